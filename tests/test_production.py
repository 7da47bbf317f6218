"""The programs of the page on production do what it says, in processes of their own."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from gramless import KernelPCA

pytest.importorskip("onnx", reason='ONNX files need onnx: pip install ".[onnx]"')
pytest.importorskip("onnxruntime", reason="the programs run in onnxruntime")
FOLDER = Path(__file__).parents[1] / "docs" / "production"
X = np.random.default_rng(0).standard_normal((10_000, 5))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A fitted model, and its file."""
    fitted = KernelPCA(3, kernel="rbf", gamma="median", scale_input=True).fit(X[:300])
    path = tmp_path_factory.mktemp("production") / "model.onnx"
    fitted.to_onnx(path)
    return fitted, path


def without_gramless():
    """An environment in which gramless is not importable from where the tests find it."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_the_batch_job(model, tmp_path):
    fitted, path = model
    np.save(tmp_path / "rows.npy", X)
    names = [path, tmp_path / "rows.npy", tmp_path / "scores.npy"]
    subprocess.run([sys.executable, FOLDER / "batch.py", *names], check=True, env=without_gramless())
    np.testing.assert_allclose(np.load(tmp_path / "scores.npy"), fitted.transform(X), rtol=0, atol=1e-12)


@pytest.fixture
def address(model):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, FOLDER / "service.py", model[1], str(port)]
    service = subprocess.Popen(command, env=without_gramless(), stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert service.poll() is None, "the service ended"
                assert time.monotonic() < deadline, "the service does not answer"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        service.kill()
        service.wait()


def ask(address, body):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(address, body.encode()), timeout=30) as answer:
        return json.loads(answer.read())


def test_the_web_service(model, address):
    fitted, _ = model
    for rows in (X[:1], X[:50]):
        found = ask(address, json.dumps(rows.tolist()))
        np.testing.assert_allclose(found, fitted.transform(rows), rtol=0, atol=1e-12)
    for body in ("[[1, 2]]", "nothing", "[[NaN, 1, 1, 1, 1]]"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(address, body)
        assert refused.value.code == 400
    assert len(ask(address, json.dumps(X[:2].tolist()))) == 2  # still there


@pytest.mark.parametrize("name", ["service.py", "batch.py"])
def test_the_page_shows_them_and_they_need_no_gramless(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert "gramless" not in text
    assert f"literalinclude:: production/{name}" in FOLDER.with_suffix(".rst").read_text(encoding="utf-8")
