"""All commands in one program, and its exit code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from gramless._version import __version__
from gramless.cli.clustering import cluster
from gramless.cli.combining import merge, update
from gramless.cli.compressing import compress
from gramless.cli.exporting import export
from gramless.cli.failures import INTERRUPTED, OK, explain
from gramless.cli.fitting import fit, plan
from gramless.cli.looking import inspect
from gramless.cli.projecting import denoise, inverse, transform
from gramless.cli.showing import demo, explore, report

_EPILOG = (
    "Exit codes: 0 done; 1 internal error; 2 invalid usage; 3 a file cannot be read or written, "
    "or has the wrong columns; 4 not achievable; 5 an optional package is missing; 130 interrupted."
)
app = typer.Typer(
    name="gramless",
    help="Kernel PCA without the Gram matrix, from the command line.",
    epilog=_EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = (
    (fit, "Fit kernel PCA to DATA and write a model."),
    (plan, "Estimate the cost of each method."),
    (inspect, "Show the contents and accuracy of a model."),
    (transform, "Project rows onto the components."),
    (inverse, "Inverse transform: from scores to rows."),
    (denoise, "Denoise rows: transform and inverse transform."),
    (update, "Update a model with more rows."),
    (merge, "Merge models fitted separately."),
    (export, "Write a model as an ONNX file."),
    (compress, "Reduce a model to fewer points."),
    (cluster, "Cluster rows by kernel k-means."),
    (report, "Write a self-contained HTML report."),
    (explore, "Explore the bandwidth in the browser."),
    (demo, "A tour on this machine, in a minute."),
)
for command, summary in _COMMANDS:
    app.command(short_help=summary)(command)


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Suppress progress bars and warnings.")] = False,
) -> None:
    context.obj = {"quiet": quiet}
    if quiet:
        warnings.simplefilter("ignore")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command-line arguments; those of the process by default.

    Returns
    -------
    int
        The exit code; see :mod:`gramless.cli.failures`.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        print(f"gramless {__version__}")
        return OK
    given = given or ["--help"]
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]  # so that it may follow the command, too
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            code: Any = app(given, prog_name="gramless", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):  # some versions of typer raise one of these, others return the code
        code = INTERRUPTED
    except Exception as error:
        if debug:
            raise
        return explain(error)
    if code == INTERRUPTED:
        print("gramless: interrupted; nothing was written", file=sys.stderr)
    return code if isinstance(code, int) else OK


def _warn(message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None) -> None:
    """Print a warning in one line."""
    kind = "" if category.__name__ == "DialectWarning" else "warning: "
    print(f"gramless: {kind}{' '.join(str(message).split())}", file=sys.stderr)
