"""``python -m gramless``: the command line."""

import sys

from gramless.cli import main

if __name__ == "__main__":
    sys.exit(main())
