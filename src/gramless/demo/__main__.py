"""``python -m gramless.demo [--out FOLDER] [--rows N]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gramless.demo.tour import run


def main(arguments: list[str] | None = None) -> int:
    """Run the tour; 1 where matplotlib is missing, 0 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m gramless.demo", description="Kernel PCA beside PCA, in a minute.")
    parser.add_argument(
        "--out", type=Path, default=Path("demo"), metavar="FOLDER", help="where files go (default: demo)"
    )
    parser.add_argument("--rows", type=int, default=5000, metavar="N", help="rows of the comparison (default: 5000)")
    options = parser.parse_args(arguments)
    if options.rows < 100:
        parser.error(f"--rows {options.rows} is too few for 20 components to mean anything; pass at least 100")
    try:
        run(options.out, rows=options.rows)
    except ImportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
