"""One file: arrays in the safetensors layout and a header in JSON, sealed by a checksum of every byte.

The layout (https://github.com/huggingface/safetensors) is: the length of a JSON string as 8 bytes, little endian; the
JSON, which gives each array's dtype, shape and position; the arrays, without gaps. The safetensors library can read
these files. It is not used here, because it has no checksum of all bytes, computed while they are read and without a
copy; it accepts a name given twice; with its memory map, a file truncated while it is read ends the process; and a full
disk is not an OSError.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from typing import Any, BinaryIO

import numpy as np

from gramless.arrays import Array
from gramless.errors import FormatError
from gramless.persistence.replacing import replacing
from gramless.persistence.strict_json import parse

#: Number of the format; a file with another number is refused.
FORMAT = 2
#: Bytes that the JSON may take: as Python objects it may take twenty times as much.
MOST_HEADER = 4 * 2**20

_DTYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "|b1"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1"},
}
_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}
_UNSEALED = "0" * 64


def can_hold(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of `dtype` have a place in a file."""
    return dtype.newbyteorder("<") in _NAMES


def write_file(path: Any, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write a file whole or not at all.

    Parameters
    ----------
    path : str or Path
    header : dict
        JSON values; ``format`` is added.
    arrays : dict of str to ndarray
    """
    ready = {name: np.asarray(array, array.dtype.newbyteorder("<"), order="C") for name, array in arrays.items()}
    entries: dict[str, Any] = {}
    place = 0
    for name, array in ready.items():
        shape = list(arrays[name].shape)
        entries[name] = {"dtype": _NAMES[array.dtype], "shape": shape, "data_offsets": [place, place + array.nbytes]}
        place += array.nbytes
    text = json.dumps({"format": FORMAT, **header}, allow_nan=False)
    head = _head({"gramless": text, "sha256": _UNSEALED}, entries)
    if len(head) > MOST_HEADER:
        raise ValueError(
            f"the names and settings of this model take {len(head)} bytes; at most {MOST_HEADER} can be saved"
        )
    seal = hashlib.sha256(head)
    for array in ready.values():
        seal.update(_bytes(array))
    with replacing(path) as file:
        file.write(_head({"gramless": text, "sha256": seal.hexdigest()}, entries))
        for array in ready.values():
            file.write(_bytes(array))


def _head(metadata: dict[str, str], entries: dict[str, Any]) -> bytes:
    text = json.dumps({"__metadata__": metadata, **entries}).encode()
    text += b" " * (-len(text) % 8)  # arrays begin at a multiple of 8
    return len(text).to_bytes(8, "little") + text


def _bytes(array: Array) -> Any:
    return array.reshape(-1).view(np.uint8).data


def read_file(path: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays; no more memory is allocated than the file has bytes, whatever the header claims.

    Raises
    ------
    FormatError
        If `path` is not a whole file of this format.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # do not wait for a pipe
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise FormatError("it is a folder, not a model file")
        if not stat.S_ISREG(status.st_mode):
            raise FormatError("it is not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            return _read(file, status.st_size)
    finally:
        os.close(descriptor)


def _read(file: BinaryIO, size: int) -> tuple[dict[str, Any], dict[str, Array]]:
    start = file.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > size - 8:
        raise FormatError("it is not a gramless model file, or it is truncated")
    if length > MOST_HEADER:
        raise FormatError(f"its header takes {length} bytes; at most {MOST_HEADER} are read")
    text = file.read(length)
    entries = parse(text)
    metadata = entries.pop("__metadata__", None) if isinstance(entries, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("gramless"), str):
        raise FormatError("it is not a gramless model file")
    header = _known_format(parse(metadata["gramless"]))
    seal = _seal_of(metadata, text)
    places = _places(entries, size - 8 - length)
    digest = hashlib.sha256(start + text.replace(seal, _UNSEALED.encode(), 1))
    arrays = {name: _read_array(file, dtype, shape, digest) for name, dtype, shape in places}
    if digest.hexdigest().encode() != seal:
        raise FormatError("its checksum does not match: the file is damaged")
    for name, array in arrays.items():
        if array.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
            raise FormatError(f"the array {name!r} has boolean values other than 0 and 1")
    return header, arrays


def _known_format(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or "format" not in header:
        raise FormatError("its header lacks the field 'format'")
    if header["format"] != FORMAT or isinstance(header["format"], bool):
        raise FormatError(
            f"it has format {header['format']!r} (written by gramless {header.get('version')!r}); this version reads "
            f"format {FORMAT}"
        )
    return header


def _seal_of(metadata: dict[str, Any], text: bytes) -> bytes:
    """The checksum in the header, where it must occur exactly once."""
    unknown = sorted(set(metadata) - {"gramless", "sha256"})
    if unknown:
        raise FormatError(f"its header has the field {unknown[0]!r}, which is unknown")
    seal = metadata.get("sha256")
    if not isinstance(seal, str) or len(seal) != 64 or set(seal) - set("0123456789abcdef"):
        raise FormatError("its header lacks a checksum")
    if text.count(seal.encode()) != 1:
        raise FormatError("its header contains more than one checksum")
    return seal.encode()


def _places(entries: dict[str, Any], room: int) -> list[tuple[str, np.dtype[Any], tuple[int, ...]]]:
    """Name, dtype and shape of each array, in the order of the file, which they must fill without gap or overlap."""
    found = []
    for name, entry in entries.items():
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise FormatError(f"the array {name!r} is not described by dtype, shape and data_offsets")
        if not isinstance(entry["dtype"], str) or entry["dtype"] not in _DTYPES:
            raise FormatError(f"the array {name!r} has the dtype {entry['dtype']!r}; known: {', '.join(_DTYPES)}")
        shape, offsets = entry["shape"], entry["data_offsets"]
        if not _whole_numbers(shape) or len(shape) > 32 or not _whole_numbers(offsets) or len(offsets) != 2:
            raise FormatError(f"the array {name!r} has the shape {shape!r} at {offsets!r}")
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        if math.prod(filter(None, shape)) > 2**48 or math.prod(shape) * dtype.itemsize != offsets[1] - offsets[0]:
            raise FormatError(f"the array {name!r} of shape {shape!r} does not match its bytes {offsets!r}")
        found.append((offsets[0], offsets[1], name, dtype, tuple(shape)))
    found.sort(key=lambda item: item[:2])
    place = 0
    for first, last, name, _, _ in found:
        if first != place or last > room:
            raise FormatError(
                f"the array {name!r} overlaps another, leaves a gap, or reaches beyond the end of the file"
            )
        place = last
    if place != room:
        raise FormatError(f"the arrays take {place} bytes, but the file has {room} for them")
    return [(name, dtype, shape) for _, _, name, dtype, shape in found]


def _whole_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _read_array(file: BinaryIO, dtype: np.dtype[Any], shape: tuple[int, ...], digest: Any) -> Array:
    array: Array = np.empty(shape, dtype)
    view = _bytes(array)
    if file.readinto(view) != len(view):  # type: ignore[attr-defined]
        raise FormatError("it was truncated while it was read")
    digest.update(view)
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))
