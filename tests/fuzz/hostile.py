"""Files that were made to mislead, one trick each; ``python -m fuzz.hostile`` writes those that are missing.

``HOSTILE`` says how each is made, and why it must be refused.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gramless.persistence import read_file, write_file

FOLDER = Path(__file__).parent / "corpus"
_KEPT = Path(__file__).parents[1] / "persistence" / "kept"


def _sealed(name: str, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Callable[[Path], None]:
    """A kept model with its header and arrays changed, and a checksum that matches."""

    def write(path: Path) -> None:
        header, arrays = read_file(_KEPT / f"2-{name}.safetensors")
        change(header, arrays)
        write_file(path, header, arrays)

    return write


def _packed(text: bytes, cut: int = 0) -> Callable[[Path], None]:
    """Text packed by gzip, less so many bytes at the end."""

    def write(path: Path) -> None:
        whole = gzip.compress(text, mtime=0)
        path.write_bytes(whole[: len(whole) - cut])

    return write


def _walk(tree: Any, cls: str) -> Any:
    """The fields of the first object of a class."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if node.get("class") == cls:
                return node["fields"]
            stack += node.values()
        elif isinstance(node, list):
            stack += node
    raise LookupError(cls)


def _nested(header: dict[str, Any], arrays: Any) -> None:
    for _ in range(300):
        header["kernel"] = {"class": "Scaled", "fields": {"kernel": header["kernel"], "factor": 1.0}}


def _outside(header: dict[str, Any], arrays: Any) -> None:
    """A sparse matrix with an entry far to the right of its last column."""
    tree = header["attributes"]["X_fit_"]["csr"]["indices"]
    arrays[tree["array"]] = arrays[tree["array"]] + np.int32(2**30)


def _filled(cls: str, field: str, value: float) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    """Another number in an array: finufft, which trusts its input, would write where it must not."""

    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        name = _walk(header, cls)[field]["array"]
        arrays[name] = np.full_like(arrays[name], value)

    return change


def _texts(header: dict[str, Any], arrays: Any) -> None:
    texts = ["a"] * 2000 + ["b" * 20_000]
    header["attributes"]["classes_"] = {"texts": texts, "shape": [2001], "object": False}


def _array(path: Path, header: str, data: bytes = b"") -> None:
    """A .npy file with any header."""
    text = header.encode() + b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data)


def _zip_bomb(path: Path) -> None:
    """300 MB of zeros in a few hundred bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive, archive.open("x.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (4 * 10**6, 10)})
        for _ in range(320):
            file.write(bytes(10**6))


def _long_header(path: Path) -> None:
    """A header of 40 MB of blanks, which NumPy would decompress before it looks at their number."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        file.write(b"\x93NUMPY\x02\x00" + (40 * 10**6).to_bytes(4, "little"))
        for _ in range(40):
            file.write(b" " * 10**6)


def _packed_by_bzip2(path: Path) -> None:
    """Few bytes, of which Python unpacks all when the first of them is asked for."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive, archive.open("x.npy", "w") as file:
        np.save(file, np.zeros((2 * 10**6, 2)))


class _Command:
    """What a pickle may do when it is read."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("a-pickle-was-run",)


def _objects(path: Path) -> None:
    np.save(file := io.BytesIO(), np.array([[_Command()]], dtype=object), allow_pickle=True)
    path.write_bytes(file.getvalue())


def _hdf5(make: Callable[[Any, Any], None]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        import h5py

        with h5py.File(path, "w") as file:
            make(h5py, file)

    return write


def _virtual(h5py: Any, file: Any) -> None:
    layout = h5py.VirtualLayout((2, 2), "f8")
    layout[:] = h5py.VirtualSource("elsewhere.h5", "x", shape=(2, 2))
    file.create_virtual_dataset("x", layout)


def _zarr(metadata: dict[str, Any], name: str, chunks: dict[str, bytes]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.mkdir()
        (path / name).write_text(json.dumps(metadata))
        for chunk, data in chunks.items():
            (path / chunk).write_bytes(data)

    return write


_OLD = {"zarr_format": 2, "chunks": [4, 2], "dtype": "<f8", "fill_value": 0, "order": "C", "filters": None}

HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "degree-of-a-million.safetensors": (
        _sealed("pca-monomials", lambda header, _: _walk(header, "Polynomial").update(degree=10**6)),
        "monomials of degree 1000000",
    ),
    "terms-without-end.safetensors": (
        _sealed("pca-taylor", lambda header, _: _walk(header, "TaylorMap").update(terms=10**9)),
        "monomials of degree 999999999",
    ),
    "grid-of-a-billion.safetensors": (
        _sealed("pca-fourier", lambda header, _: _walk(header, "Axes").update(counts={"tuple": [2**30]})),
        "cannot have a grid",
    ),
    "box-of-nan.safetensors": (_sealed("pca-fourier", _filled("Problem", "low", np.nan)), "a box extends from"),
    "short-period.safetensors": (_sealed("pca-fourier", _filled("Axes", "periods", 1e-320)), "has the periods"),
    "one-long-text.safetensors": (_sealed("discriminant", _texts), "much longer than the others"),
    "entry-outside.safetensors": (_sealed("pca-sparse-rows", _outside), "lies outside it"),
    "nested-kernels.safetensors": (_sealed("pca-dense", _nested), "more than 100 levels"),
    "command.safetensors": (
        _sealed("ica", lambda header, _: header["parameters"].update(kernel={"class": "os.system", "fields": {}})),
        "'os.system'",
    ),
    "long-integer.safetensors": (
        _sealed("ica", lambda header, _: header["parameters"].update(max_iter=10**3000)),
        "an integer of 9966 bits",
    ),
    "used-twice.safetensors": (
        _sealed("ica", lambda header, _: header["attributes"].update(mixing_=header["attributes"]["components_"])),
        "used before",
    ),
    "smuggled-array.safetensors": (
        _sealed("ica", lambda header, arrays: arrays.update(more=np.zeros(10))),
        "'more', which nothing refers to",
    ),
    "device.safetensors": (
        _sealed("pca-tiled", lambda header, _: _walk(header, "PointSpan").update(device="../../dev/mem")),
        "the device",
    ),
    "bomb.npz": (_zip_bomb, "would decompress"),
    "header.npz": (_long_header, "its header takes 40000000 bytes"),
    "bzip2.npz": (_packed_by_bzip2, "a compression method that NumPy does not write"),
    "objects.npy": (_objects, "Python objects"),
    "immense.npy": (
        lambda path: _array(path, "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 3)}"),
        "truncated or corrupted",
    ),
    "code.npy": (
        lambda path: _array(path, "{'descr': __import__('os').getcwd(), 'fortran_order': False, 'shape': (1, 1)}"),
        "not a .npy file",
    ),
    "brackets.npy": (lambda path: _array(path, "(" * 5000), "not a .npy file"),
    "ragged.csv": (lambda path: path.write_text("1,2\n3,4,5\n"), "has 3 fields"),
    "bytes.csv": (lambda path: path.write_bytes(b"\xff\x81\x90,b\n1,2\n"), "not UTF-8"),
    "zeros.csv": (lambda path: path.write_bytes("a,b\n1,2\n".encode("utf-16-le")), "zero bytes"),
    "comments.csv": (lambda path: path.write_text("# a\n# b\n"), "comments only"),
    "mixed.csv": (lambda path: path.write_text('a,b\n"1,5",2.5\n"1.5",x\n'), "2 of 2 columns"),
    "one-line.csv.gz": (_packed(b"1,2\n" + b"7" * 2**25), "a line of more than"),
    "first-line.csv.gz": (_packed(b"1," * 2**24), "a line of more than"),
    "cut.csv.gz": (_packed(b"".join(b"%d,%d\n" % (i, i * i) for i in range(9)), cut=12), "not a complete gzip file"),
    "plain.csv.gz": (lambda path: path.write_text("1,2\n3,4\n"), "not a complete gzip file"),
    "elsewhere.h5": (
        _hdf5(lambda h5py, file: file.create_dataset("x", (2, 2), "f8", external=[("/etc/hostname", 0, 32)])),
        "in external files",
    ),
    "virtual.h5": (_hdf5(_virtual), "in external files"),
    "air.h5": (
        _hdf5(lambda h5py, file: file.create_dataset("x", (10**12, 3), "f8", chunks=(1000, 3))),
        "but stores 0 bytes",
    ),
    "chunk.h5": (
        _hdf5(lambda h5py, file: file.create_dataset("x", (4, 2), "f8", maxshape=(None, 2), chunks=(2**27, 2))),
        "declares chunks of shape",
    ),
    "chunk.zarr": (
        _zarr({**_OLD, "shape": [4, 2], "chunks": [2**27, 2], "compressor": None}, ".zarray", {}),
        "declares chunks of shape",
    ),
    "air.zarr": (
        _zarr({**_OLD, "shape": [10**12, 2], "compressor": None}, ".zarray", {}),
        "declares the shape",
    ),
    "pickle.zarr": (
        _zarr({**_OLD, "shape": [4, 2], "compressor": {"id": "pickle"}}, ".zarray", {"0.0": pickle.dumps(_Command())}),
        "pickle",
    ),
    "footer.parquet": (
        lambda path: path.write_bytes(b"PAR1" + bytes(40) + (2**31 - 1).to_bytes(4, "little") + b"PAR1"),
        "not a complete Parquet file",
    ),
}


def write_missing() -> None:
    """Write the files that are not there yet."""
    FOLDER.mkdir(exist_ok=True)
    for name, (write, _) in HOSTILE.items():
        if not (FOLDER / name).exists():
            write(FOLDER / name)


if __name__ == "__main__":
    write_missing()
