from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress

from gramless import KernelPCA
from gramless.cli.progress import FitBar, fit_bar, rows_bar
from gramless.progress import observed_by

X = np.random.default_rng(0).random((400, 5))


@pytest.fixture
def progress():
    return Progress(console=Console(file=StringIO()), auto_refresh=False)


def test_passes_bring_the_bar_to_its_end(progress):
    with observed_by(FitBar(progress)):
        KernelPCA(3, kernel="rbf", method="tiled").fit(X)
    (task,) = progress.tasks
    assert task.percentage == pytest.approx(100)
    assert task.description.startswith("pass ")
    assert "residual" in task.description


def test_rows_are_counted(progress):
    with observed_by(FitBar(progress)):
        KernelPCA(3, kernel="poly", degree=2, method="monomials").fit(X)
    (task,) = progress.tasks
    assert (task.completed, task.total, task.description) == (400, 400, "fit (monomials)")


def test_a_second_method_has_the_bar_for_itself(progress):
    bar = FitBar(progress)
    bar.begins("landmarks", 1.0)
    bar.begins("tiled", 1.0)
    assert [task.description for task in progress.tasks] == ["fit (tiled)"]


def test_what_cannot_be_measured_is_not_shown(progress):
    bar = FitBar(progress)
    bar.reached(1.0, 1e-3)  # before any method began
    bar.summed(1, 2)
    bar.begins("tiled", 1.0)
    bar.reached(0.0, 0.0)
    assert progress.tasks[0].completed == 0


def test_no_terminal_no_bar(capsys):
    with fit_bar(quiet=False), rows_bar("read", quiet=False) as bar:
        bar.advance(1, 2)
    assert capsys.readouterr() == ("", "")
