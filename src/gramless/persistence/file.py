"""One file: arrays in the safetensors layout and a header in JSON, sealed by checksums of every byte.

The layout (https://github.com/huggingface/safetensors) is: the length of a JSON string as 8 bytes, little endian; the
JSON, which gives each array's dtype, shape and position; the arrays, without gaps. The safetensors library can read
these files. It is not used here, because it has no checksum of all bytes, computed while they are read and without a
copy; it accepts a name given twice; it maps small arrays too, so that every file that is truncated while it is in use
ends the process; and a full disk is not an OSError.

Large arrays come first and have a checksum each, so that a file can be loaded without reading them: `sha256` in the
header covers the header, with their checksums, and all other arrays.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from typing import Any, BinaryIO, TypeGuard

import numpy as np

from gramless.arrays import Array
from gramless.errors import FormatError
from gramless.persistence.mapping import can_map, map_file, mapped_array
from gramless.persistence.replacing import replacing
from gramless.persistence.strict_json import parse

#: Number of the format of a file without large arrays; a file with an unknown number is refused.
FORMAT = 2
#: Number of the format of a file with large arrays.
LARGE_FORMAT = 3
#: Bytes from which on an array of floats is large.
LARGE = 2**23
#: Bytes that the JSON may take: as Python objects it may take twenty times as much.
MOST_HEADER = 4 * 2**20

_DTYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "|b1"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1"},
}
_MAPPED = ("F64", "F32")  # never integers: code that relies on checked indices must not see them change
_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}
_UNSEALED = "0" * 64

#: Name, dtype and shape of each array, in the order of the file.
Places = list[tuple[str, np.dtype[Any], tuple[int, ...]]]


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
    large = {name: array for name, array in ready.items() if array.nbytes >= LARGE and _NAMES[array.dtype] in _MAPPED}
    large = dict(sorted(large.items(), key=lambda item: -item[1].itemsize))  # all begin at multiples of their itemsize
    ready = large | ready
    entries: dict[str, Any] = {}
    place = 0
    for name, array in ready.items():
        shape = list(arrays[name].shape)
        entries[name] = {"dtype": _NAMES[array.dtype], "shape": shape, "data_offsets": [place, place + array.nbytes]}
        place += array.nbytes
    metadata = {"gramless": json.dumps({"format": LARGE_FORMAT if large else FORMAT, **header}, allow_nan=False)}
    if large:
        digests = {name: hashlib.sha256(_bytes(array)).hexdigest() for name, array in large.items()}
        metadata["large"] = json.dumps(digests)
    head = _head({**metadata, "sha256": _UNSEALED}, entries)
    if len(head) > MOST_HEADER:
        raise ValueError(
            f"the names and settings of this model take {len(head)} bytes; at most {MOST_HEADER} can be saved"
        )
    seal = hashlib.sha256(head)
    for name, array in ready.items():
        if name not in large:
            seal.update(_bytes(array))
    with replacing(path) as file:
        file.write(_head({**metadata, "sha256": seal.hexdigest()}, entries))
        for array in ready.values():
            file.write(_bytes(array))


def _head(metadata: dict[str, str], entries: dict[str, Any]) -> bytes:
    text = json.dumps({"__metadata__": metadata, **entries}).encode()
    text += b" " * (-(8 + len(text)) % 64)  # arrays begin at a multiple of 64, as BLAS likes them
    return len(text).to_bytes(8, "little") + text


def _bytes(array: Array) -> Any:
    return array.reshape(-1).view(np.uint8).data


def read_file(path: Any, *, mmap: bool = False) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays; no more memory is allocated than the file has bytes, whatever the header claims.

    Parameters
    ----------
    path : str or Path
    mmap : bool, default=False
        Map large arrays to memory, read-only, where this system can replace a file that is mapped: their bytes are read
        when they are used, and their checksums are not verified. Everything else is read and verified.

    Returns
    -------
    header : dict
    arrays : dict of str to ndarray

    Raises
    ------
    FormatError
        If `path` is not a complete file of this format.
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
            return _read(file, status.st_size, mmap and can_map())
    finally:
        os.close(descriptor)


def _read(file: BinaryIO, size: int, mmap: bool) -> tuple[dict[str, Any], dict[str, Array]]:
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
    large = _large(metadata, header, places)
    digest = hashlib.sha256(start + text.replace(seal, _UNSEALED.encode(), 1))
    whole = map_file(file, size) if mmap and large else None
    arrays, place = {}, 8 + length
    for name, dtype, shape in places:
        file.seek(place)
        if name not in large:
            arrays[name] = _read_array(file, dtype, shape, digest)
        elif whole is not None and dtype.isnative:
            arrays[name] = mapped_array(whole, dtype, shape, place)
        else:
            own = hashlib.sha256()
            arrays[name] = _read_array(file, dtype, shape, own)
            _require_match(own, large[name])
        place += arrays[name].nbytes
    _require_match(digest, seal.decode())
    for name, array in arrays.items():
        if array.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
            raise FormatError(f"the array {name!r} has boolean values other than 0 and 1")
    return header, arrays


def _require_match(digest: Any, stated: str) -> None:
    if digest.hexdigest() != stated:
        raise FormatError("its checksum does not match: the file is damaged")


def _large(metadata: dict[str, Any], header: dict[str, Any], places: Places) -> dict[str, str]:
    """The checksums of the large arrays, which may be mapped."""
    if (header["format"] == LARGE_FORMAT) != ("large" in metadata):
        raise FormatError("its header lacks the checksums of large arrays, or has some that its format does not have")
    if "large" not in metadata:
        return {}
    stated = parse(metadata["large"]) if isinstance(metadata["large"], str) else None
    if not isinstance(stated, dict) or not all(_is_digest(text) for text in stated.values()):
        raise FormatError("its header has no valid checksums of large arrays")
    place, possible = 0, set()
    for name, dtype, shape in places:
        size = dtype.itemsize * math.prod(shape)
        if _NAMES[dtype] in _MAPPED and place % dtype.itemsize == 0 and size > 0:
            possible.add(name)
        place += size
    for name in stated.keys() - possible:
        raise FormatError(f"the large array {name!r} is not there, is empty, not of floats, or not aligned")
    return stated


def _known_format(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or "format" not in header:
        raise FormatError("its header lacks the field 'format'")
    if type(header["format"]) is not int or header["format"] not in (FORMAT, LARGE_FORMAT):
        raise FormatError(
            f"it has format {header['format']!r} (written by gramless {header.get('version')!r}); this version reads "
            f"formats {FORMAT} and {LARGE_FORMAT}"
        )
    return header


def _seal_of(metadata: dict[str, Any], text: bytes) -> bytes:
    """The checksum in the header, where it must occur exactly once."""
    unknown = sorted(set(metadata) - {"gramless", "sha256", "large"})
    if unknown:
        raise FormatError(f"its header has the field {unknown[0]!r}, which is unknown")
    seal = metadata.get("sha256")
    if not _is_digest(seal):
        raise FormatError("its header lacks a checksum")
    if text.count(seal.encode()) != 1:
        raise FormatError("its header contains more than one checksum")
    return seal.encode()


def _is_digest(text: Any) -> TypeGuard[str]:
    return isinstance(text, str) and len(text) == 64 and not set(text) - set("0123456789abcdef")


def _places(entries: dict[str, Any], room: int) -> Places:
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
