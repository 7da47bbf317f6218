"""How far a command is: on a terminal only, and in one display for fits."""

import numpy as np

from gramless import KernelPCA
from gramless.cli.progress import fit_bar, rows_bar
from gramless.display import ProgressLine
from gramless.progress import observer

X = np.random.default_rng(0).random((400, 5))


def test_a_terminal_shows_the_line_of_a_fit(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes stderr for a terminal then
    with fit_bar(quiet=False):
        KernelPCA(3, kernel="rbf", method="tiled").fit(X)
        line = observer()
        assert isinstance(line, ProgressLine)
        assert line.passes > 0
        assert str(line).startswith("KernelPCA tiled: ")
        KernelPCA(3, kernel="poly", degree=2, method="monomials").fit(X)
        assert (line.rows, line.total, line.method) == (400, 400, "monomials")
    with fit_bar(quiet=True):
        assert not isinstance(observer(), ProgressLine)


def test_no_terminal_no_bar(capsys):
    with fit_bar(quiet=False), rows_bar("read", quiet=False) as bar:
        bar.advance(1, 2)
    assert capsys.readouterr() == ("", "")
