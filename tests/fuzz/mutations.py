"""Bytes changed at random, in the ways in which files go wrong and are made to."""

from __future__ import annotations

from typing import Any

_INTEGERS = (
    0,
    1,
    2,
    127,
    255,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
_TOKENS = (
    *(b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-0", b"null", b"true", b"[]", b"{}", b'""', b"9" * 30),
    *(b"[" * 3000, b'{"a":' * 2000, b"[[[[]]]]", b'"\\ud800"', b"\x00", b"\xff\xfe", b"../../etc/passwd", b"/dev/zero"),
    *(b"inf", b"nan", b"1,2,3", b"\n", b"\r\n", b'"', b",,", b";", b"1" * 400),
)


def mutate(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    """`data` with one to four changes; `others` are spliced in now and then."""
    for _ in range(int(rng.integers(1, 5))):
        data = _CHANGES[rng.integers(len(_CHANGES))](data, rng, others)
    return data


def _place(data: bytes, rng: Any) -> int:
    """A position; the beginning and the end, where lengths and indexes stand, are taken more often."""
    if not data:
        return 0
    near = int(min(rng.exponential(64), len(data) - 1))
    return (near, len(data) - 1 - near, int(rng.integers(len(data))), int(rng.integers(len(data))))[rng.integers(4)]


def _flip(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(int(rng.choice([1, 1, 1, 2, 8]))):
        changed[_place(bytes(changed), rng)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    return data[: _place(data, rng)]


def _drop(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    first = _place(data, rng)
    return data[:first] + data[first + int(rng.integers(1, 64)) :]


def _extend(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    return data + rng.bytes(int(rng.integers(1, 64)))


def _repeat(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    first = _place(data, rng)
    piece = data[first : first + int(rng.integers(1, 128))]
    return data[:first] + piece * int(rng.integers(2, 5)) + data[first:]


def _overwrite(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    first, size = _place(data, rng), int(rng.choice([1, 2, 4, 8]))
    number = _INTEGERS[rng.integers(len(_INTEGERS))] % 2 ** (8 * size)
    order = ("little", "big")[rng.integers(2)]
    return data[:first] + number.to_bytes(size, order) + data[first + size :]


def _insert(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    first = _place(data, rng)
    return data[:first] + _TOKENS[rng.integers(len(_TOKENS))] + data[first + int(rng.integers(2)) * 4 :]


def _digits(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    """Another number where one is written in digits."""
    places = [i for i in range(min(len(data), 4000)) if 48 <= data[i] < 58]
    if not places:
        return data
    first = last = places[rng.integers(len(places))]
    while last < len(data) and 48 <= data[last] < 58:
        last += 1
    return data[:first] + str(_INTEGERS[rng.integers(len(_INTEGERS))]).encode() + data[last:]


def _splice(data: bytes, rng: Any, others: list[bytes]) -> bytes:
    other = others[rng.integers(len(others))]
    return data[: _place(data, rng)] + other[_place(other, rng) :]


_CHANGES = (_flip, _flip, _cut, _drop, _extend, _repeat, _overwrite, _overwrite, _insert, _digits, _splice)
