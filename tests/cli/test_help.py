"""Help is quick: nothing heavy is imported for it."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest

from gramless import __version__
from gramless.cli import main

COMMANDS = [
    *("fit", "plan", "inspect", "transform", "inverse", "denoise"),
    *("update", "merge", "export", "cluster", "report", "explore", "demo"),
]
HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "matplotlib", "plotly", "pandas", "finufft", "torch", "onnx"}


@pytest.fixture(scope="module")
def imported():
    """Top-level modules after the help of the program and of every command."""
    code = (
        "import sys\n"
        "from gramless.cli import main\n"
        f"for words in [[], ['--help'], ['--version'], *([name, '--help'] for name in {COMMANDS!r})]:\n"
        "    assert main(words) == 0, words\n"
        "print({name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert child.returncode == 0, child.stderr
    return eval(child.stderr)


def test_help_imports_nothing_heavy(imported):
    assert "typer" in imported
    assert not imported & HEAVY


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does(command, capsys):
    assert main([command, "--help"]) == 0
    printed = capsys.readouterr().out
    assert f"Usage: gramless {command}" in printed
    if command not in ("demo", "explore"):
        assert "--json" in printed


def test_help_lists_commands_and_exit_codes(capsys):
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {command} " in printed for command in COMMANDS)
    assert "130 interrupted" in " ".join(printed.split())


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"gramless {__version__}\n"


def test_completion_is_offered(monkeypatch, capsys):
    monkeypatch.setenv("_GRAMLESS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "gramless ins")
    monkeypatch.setenv("COMP_CWORD", "1")
    with suppress(SystemExit):  # the shell asked, and has its answer
        main([])
    assert "inspect" in capsys.readouterr().out
