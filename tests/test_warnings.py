"""A warning points at the reader's own line, and comes again for another line of theirs."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramless import IndefiniteKernelWarning, KernelDiscriminantAnalysis, KernelKMeans, KernelPCA
from gramless.eigen import eigsh

ROWS = np.random.default_rng(0).normal(size=(30, 3))


def classes():
    model = make_pipeline(StandardScaler(), KernelPCA(2, kernel="sigmoid"), KernelDiscriminantAnalysis())
    return cross_val_score(model, ROWS, np.arange(30) % 2, cv=2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: KernelPCA(2, kernel="sigmoid").fit(ROWS),
        lambda: KernelPCA(2, kernel="sigmoid").fit_transform(ROWS),
        lambda: KernelPCA(2, kernel="sigmoid").partial_fit(ROWS),
        lambda: make_pipeline(StandardScaler(), KernelPCA(2, kernel="sigmoid")).fit(ROWS),
        classes,
        lambda: KernelKMeans(5, random_state=0).fit(np.ones((20, 2))),
        lambda: KernelKMeans(5, max_iter=1, random_state=0, tol=0).fit(ROWS),
        lambda: eigsh(np.diag(np.arange(1.0, 200.0)), 2, solver="power", max_iter=2),
    ],
)
def test_the_line_is_the_readers(call):
    with pytest.warns() as caught:
        call()
    assert {warning.filename for warning in caught} == {__file__}


def test_another_line_warns_again():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        KernelPCA(2, kernel="sigmoid").fit(ROWS)
        KernelPCA(2, kernel="sigmoid").fit(ROWS)
    assert [warning.category for warning in caught] == [IndefiniteKernelWarning] * 2
