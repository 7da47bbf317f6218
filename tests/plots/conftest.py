import pytest


@pytest.fixture(autouse=True)
def _draw_in_memory() -> None:
    pytest.importorskip("matplotlib.pyplot").switch_backend("agg")
