"""``python -m gramless.explorer DATA [--label COLUMN] [--columns A,B,...] [--key NAME] [--port PORT] [--no-show]``."""

from __future__ import annotations

import argparse
import sys

from gramless.errors import GramlessError
from gramless.explorer.server import serve


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted; 1 where the data cannot be read or a package is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m gramless.explorer",
        description="Explore kernel PCA interactively: kernel, bandwidth and components.",
    )
    parser.add_argument("data", metavar="DATA", help="CSV, Parquet, NPY, NPZ, HDF5 or zarr file, or a folder of files")
    parser.add_argument(
        "--label", metavar="COLUMN", help="column of labels, by name or index; in .npz files the name of an array"
    )
    parser.add_argument("--columns", metavar="A,B,...", help="columns to use (default: all)")
    parser.add_argument("--key", metavar="NAME", help="name of the array to read from a .npz, HDF5 or zarr file")
    parser.add_argument("--port", type=int, default=0, help="port of the server (default: any free port)")
    parser.add_argument("--no-show", action="store_true", help="do not open a browser")
    options = parser.parse_args(arguments)
    columns = None if options.columns is None else [_number_or_name(part) for part in options.columns.split(",")]
    settings = {"label": options.label, "columns": columns, "key": options.key}
    try:
        serve(options.data, options.port, show=not options.no_show, **settings)
    except (GramlessError, ImportError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _number_or_name(column: str) -> str | int:
    return int(column) if column.strip().isdigit() else column.strip()


if __name__ == "__main__":
    sys.exit(main())
