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
from gramless.cli.failures import INTERRUPTED, OK, explain
from gramless.cli.fitting import fit, plan
from gramless.cli.looking import inspect
from gramless.cli.projecting import denoise, inverse, transform
from gramless.cli.showing import demo, explore, report

_EPILOG = (
    "Exit codes: 0 done; 1 an error in gramless itself; 2 wrong use of a command; 3 a file cannot be read or written, "
    "or does not fit; 4 what was asked for cannot be had; 5 an optional package is missing; 130 interrupted."
)
app = typer.Typer(
    name="gramless",
    help="Kernel PCA without the Gram matrix: fit, look, apply, combine.",
    epilog=_EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = (
    (fit, "Find the components of DATA; write a model."),
    (plan, "What each method would cost; nothing is run."),
    (inspect, "What a model holds, and how accurate it is."),
    (transform, "Project rows on the components."),
    (inverse, "From components back to rows."),
    (denoise, "Project rows, and come back."),
    (update, "Take more rows into a model."),
    (merge, "Add models fitted apart."),
    (cluster, "Kernel k-means: a cluster for each row."),
    (report, "A page with all there is to see, offline."),
    (explore, "A local page with a slider for the width."),
    (demo, "Kernel PCA beside PCA, in a minute."),
)
for command, summary in _COMMANDS:
    app.command(short_help=summary)(command)


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="After an error show where in the code it arose.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars, no warnings.")] = False,
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
    print(f"gramless: warning: {' '.join(str(message).split())}", file=sys.stderr)
