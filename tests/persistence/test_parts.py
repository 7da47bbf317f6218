"""Objects whose parts contradict each other are refused on loading, though every byte is under a right checksum."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from persistence.models import fitted, rows

from gramless import FormatError, KernelPCA
from gramless.kernels import Gaussian
from gramless.persistence import Decoder, Encoder, read_file, write_file
from gramless.spaces import PointSpan


def read_again(value):
    encoder = Encoder()
    tree = encoder.encode(value)
    return Decoder(encoder.arrays, 10**6).decode(tree)


def of_a_certificate():
    certificate = fitted("pca-dense").certificate_
    read_again(certificate)
    return replace(certificate, kind=np.array(["rigorous", "certain"]))


def of_a_span():
    return PointSpan(Gaussian(1.0), np.zeros(3))


def of_a_grid(**axes):
    grid = fitted("pca-fourier")._fit.model.space.span.features.grid
    read_again(grid)
    return replace(grid, axes=replace(grid.axes, **axes))


def of_a_plan():
    plan = fitted("pca-dense").plan_
    read_again(plan)
    return replace(plan, chosen="guessing")


def of_a_stream():
    stream = KernelPCA(2, kernel=Gaussian(1.5)).partial_fit(rows(200))._fit.state
    assert read_again(stream).space is not None
    return replace(stream, waiting=np.zeros((2, 4)), waiting_weights=np.ones(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (of_a_certificate, r"the certificate has the kinds \['certain', 'rigorous'\]"),
        (of_a_span, r"the points of a span have the shape \(3,\)"),
        (lambda: of_a_grid(counts=(10**9,)), r"cannot have a grid of \(1000000000,\)"),
        (lambda: of_a_grid(counts=(-1,)), r"cannot have a grid of \(-1,\)"),
        (lambda: of_a_grid(counts=(1,)), "lies outside its grid"),
        (of_a_plan, "has chosen 'guessing', which is not among its candidates"),
        (of_a_stream, r"pending rows of shape \(2, 4\) for 3 columns"),
    ],
    ids=["certificate", "span", "vast grid", "negative grid", "small grid", "plan", "stream"],
)
def test_parts_that_contradict_each_other(make, message):
    with pytest.raises(FormatError, match=message):
        read_again(make())


def test_truth_values_are_0_or_1(tmp_path):
    path = tmp_path / "file"
    write_file(path, {}, {"0": np.array([True])})
    head, seal = path.read_bytes()[:-1], hashlib.sha256()
    length = int.from_bytes(head[:8], "little")
    old = json.loads(head[8 : 8 + length])["__metadata__"]["sha256"].encode()
    seal.update(head.replace(old, b"0" * 64) + b"\x02")
    path.write_bytes(head.replace(old, seal.hexdigest().encode()) + b"\x02")
    with pytest.raises(FormatError, match="the array '0' has boolean values other than 0 and 1"):
        read_file(path)


def test_a_checksum_that_stands_in_the_header_twice(tmp_path):
    write_file(tmp_path / "file", {"note": "0" * 64}, {})
    data = (tmp_path / "file").read_bytes()
    length = int.from_bytes(data[:8], "little")
    seal = json.loads(data[8 : 8 + length])["__metadata__"]["sha256"].encode()
    (tmp_path / "file").write_bytes(data.replace(b"0" * 64, seal))
    with pytest.raises(FormatError, match="its header contains more than one checksum"):
        read_file(tmp_path / "file")


def test_a_header_that_could_not_be_read_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="at most 4194304 can be saved"):
        write_file(tmp_path / "file", {"note": "x" * 2**22}, {})
    assert not (tmp_path / "file").exists()
