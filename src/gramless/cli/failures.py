"""How a command fails: one line that says what is wrong and what to do, and an exit code.

==== =====================================================================
code meaning
==== =====================================================================
0    done
1    an error in gramless itself: please report it, with ``--debug``
2    invalid usage: an unknown option, a missing argument
3    a file cannot be read or written, or has the wrong columns
4    not achievable: memory limit, tolerance, kernel, parameter
5    an optional package is missing; the message names it
130  interrupted (Ctrl-C); no file is left half-written
==== =====================================================================
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
from typing import Any

from gramless.cli.reading import option_words

_TEXTS = "; exclude that column with --exclude, --label or --columns"
_PARAMETER = re.compile(r"The '(\w+)' parameter of \w+ must be (.*)\. Got (.*) instead\.")  # scikit-learn's message
_GENERAL = re.compile(r"No such option:? '?(--quiet|-q)\b")  # typer's message for an option after the command
_READ = re.compile(r"read_options=(\{[^{}]*\})")
_LEAVE_OUT = re.compile(r"To leave out ([^;]*), choose the others by gramless\.open_source\(path, columns=\[\.\.\.\]\)")
_ARGUMENT = re.compile(r"^(sigma|time_limit)=('[^']*'|[^' ]+)")  # at the beginning: other messages name kernels
_ELSE = re.compile(r", a str among \{[^}]*\} or None$|, an instance of \S+ or None$| or None$")  # for Python alone
_CHOICE = re.compile(r"a str among \{([^}]*)\}(.*)")

#: Fragments of the library's messages, and the command-line options that replace them.
_WORDS = (
    ("fit_inverse_transform=True", "--inverse"),
    ("fit_inverse_transform=False", "no --inverse"),
    (" of gramless.open_source, or", ", or"),
    ("read_options are for", "--delimiter, --decimal and such are for"),
    ("memory_limit", "--memory"),
    ("pass n_points= to accept the change", "pass --points to accept the change"),
    ("n_points", "--points"),
    ("n_components=", "-k "),
    ("n_components", "-k"),
    ("n_clusters=", "-k "),
    ("n_clusters", "-k"),
    ("keep_data=False", "--forget-rows"),
    (" key=", " --key"),
    (", or an array", ""),
    ("by method='auto'", "by --by auto"),
    ("method='auto'", "--method auto"),
)

OK, BUG, USAGE, FILES, REFUSED, MISSING, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


class UnusableFileError(Exception):
    """A file cannot be used; the message says why, and what to pass instead."""


def explain(error: Exception) -> int:
    """Print one line on stderr; return the exit code."""
    code, text = classify(error)
    print(f"gramless: {worded(text)}", file=sys.stderr)
    return code


def worded(text: str) -> str:
    """A message of the library in one line, with options of the command line in place of parameters.

    Examples
    --------
    >>> worded("needs memory_limit='84MB', the minimum for this fit; increase memory_limit or reduce n_components")
    'needs --memory 84MB, the minimum for this fit; increase --memory or reduce -k'
    """
    text = re.sub(r"memory_limit='([^']*)'", r"--memory \1", text)
    text = re.sub(
        r"\b(missing|delimiter|decimal|thousands|encoding|comment|dtype|key|device)='([^']*)'", r"--\1 \2", text
    )
    text = _ARGUMENT.sub(lambda found: f"--{found[1].replace('_', '-')} {found[2].strip(chr(39))}", text)
    text = _READ.sub(lambda found: option_words(ast.literal_eval(found[1])), text)
    text = _LEAVE_OUT.sub(lambda found: _left_out(found[1]), text)
    for ours, theirs in _WORDS:
        text = text.replace(ours, theirs)
    return " ".join(text.split())


def _left_out(names: str) -> str:
    """Options that leave out columns, or pass them through, from their names in a message of the library."""
    found = [first or second for first, second in re.findall(r"'([^']*)'|(\d+)", names)]
    columns = shlex.quote(",".join(f'"{name}"' if "," in name else name for name in found))
    return f"Leave out columns with --exclude {columns}; transform, denoise and cluster write them along with --keep"


def classify(error: Exception) -> tuple[int, str]:
    """Exit code and message of an error."""
    from gramless.errors import MemoryLimitError, SourceError

    wrong_use: Any = getattr(error, "format_message", None)  # typer's errors; their package depends on its version
    if wrong_use is not None:
        command = getattr(getattr(error, "ctx", None), "command_path", "gramless")
        general = _GENERAL.match(wrong_use())
        if general is not None:
            return USAGE, f"{general[1]} goes before the command: gramless {general[1]} {command.partition(' ')[2]} ..."
        return USAGE, f"{wrong_use().rstrip('.')}; see {command} --help"
    text = str(error) or type(error).__name__
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return FILES, f"there is no file {error.filename}"
    if isinstance(error, (UnusableFileError, SourceError, OSError)):
        texts = text.endswith("not real numbers")
        return FILES, text + (_TEXTS if texts else "")
    if isinstance(error, ImportError):
        return MISSING, text
    if isinstance(error, MemoryError) and not isinstance(error, MemoryLimitError):
        return REFUSED, "out of memory; pass --memory with less than the free memory, or request fewer components"
    if isinstance(error, (ValueError, MemoryLimitError)):
        return REFUSED, _in_options(text)
    if isinstance(error, RuntimeError) and text.startswith("device="):
        return MISSING, text
    if isinstance(error, AttributeError) and "partial_fit" in text:  # available_if raises it for an unsuitable model
        return REFUSED, str(error.__cause__ or error)
    return BUG, f"{type(error).__name__}: {text}. This is a bug in gramless; run again with --debug for the traceback"


def _in_options(text: str) -> str:
    """scikit-learn's message about a parameter, reworded for an option; choices in alphabetical order."""
    found = _PARAMETER.fullmatch(text)
    if found is None:
        return text
    name, must, got = found.groups()
    option = name if name in ("n_components", "n_clusters") else f"--{name}"
    choice = _CHOICE.fullmatch(must)
    if choice is not None:
        must = "one of " + ", ".join(sorted(part.strip(" '") for part in choice[1].split(","))) + choice[2]
    strip = got.strip("'")
    return f"{option} {strip} is invalid; pass {_ELSE.sub('', must)}"
