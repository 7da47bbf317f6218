"""Every Python block of the documentation runs. (Doctests in it run by themselves.)

A block that cannot run anywhere has a comment before it, ``.. not run: why``.
"""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from gramless.datasets import three_clusters

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(
    r"(?:^\.\. not run: (?P<reason>[^\n]+)\n\n)?^ *\.\. code-block:: python\n\n(?P<code>(?:(?: {3,}[^\n]*)?\n)+)",
    re.MULTILINE,
)
BLOCKS = [
    pytest.param(match["code"], match["reason"], id=f"{page.stem}-{text.count(chr(10), 0, match.start()) + 1}")
    for page in sorted(DOCS.glob("*.rst"))
    for text in [page.read_text()]
    for match in BLOCK.finditer(text)
]


def names():
    """What the pages call their data."""
    import gramless
    from gramless import KernelPCA

    X, y = three_clusters(300, rng=0)
    v = np.random.default_rng(0).standard_normal((300, 4))
    return {"gramless": gramless, "KernelPCA": KernelPCA, "np": np, "X": X, "X_new": X[:10], "x": X, "y": y, "v": v}


def test_blocks_are_found():
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize(("code", "reason"), BLOCKS)
def test_block(code, reason, tmp_path, monkeypatch):
    if reason:
        pytest.skip(reason)
    if "cuda" in code:
        torch = pytest.importorskip("torch", reason="a GPU is used through torch")
        if not torch.cuda.is_available():
            pytest.skip("no GPU here")
    if "sklearn.callback" in code:
        pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
    if "gramless.explorer" in code:
        pytest.importorskip("panel", reason="the explorer needs panel")
        _do_not_wait(monkeypatch)
    monkeypatch.chdir(tmp_path)
    exec(textwrap.dedent(code), names())


def _do_not_wait(monkeypatch):
    """Serve, and stop at once."""
    from gramless import explorer

    serve = explorer.serve
    monkeypatch.setattr(explorer, "serve", lambda *a, **kw: serve(*a, **{**kw, "show": False, "wait": False}).stop())
