"""One file per claim: peer and gramless in one run, accuracy first, then a ratio."""
