"""Text files, plain or compressed by gzip, read in pieces that end with a line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gramless.errors import FormatError

_PIECE, _PACKED_PIECE = 2**23, 2**21  # bytes
_LONGEST, _PACKED_LONGEST = 2**27, 2**22  # bytes of a line; a small gzip file can expand to an endless line


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Context of a binary file, decompressed on the fly where its name ends in ``.gz``.

    Raises
    ------
    FormatError
        If a ``.gz`` file is damaged, truncated, or not compressed at all.
    """
    with gzip.open(path, "rb") if is_packed(path) else open(path, "rb") as file:
        try:
            yield file
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(
                f"{path} is not a whole gzip file: {error}; copy or pack it again, or leave out .gz if it is plain text"
            ) from error


def is_packed(path: Path) -> bool:
    """Whether the name of a file ends in ``.gz``."""
    return path.suffix.lower() == ".gz"


def first_line(file: Any, path: Path) -> bytes:
    """The next line; raises where the line is too long for a table, before all of it is in memory."""
    longest = _PACKED_LONGEST if is_packed(path) else _LONGEST
    line: bytes = file.readline(longest)
    if len(line) == longest and not line.endswith(b"\n"):
        raise FormatError(_too_long(path))
    return line


def whole_lines(path: Path, begin: int, skip: int) -> Iterator[bytes]:
    """The file from byte `begin` on, without the first `skip` non-empty lines, in pieces that end with a line."""
    piece, longest = (_PACKED_PIECE, _PACKED_LONGEST) if is_packed(path) else (_PIECE, _LONGEST)
    rest = b""
    with opened(path) as file:
        file.seek(begin)
        while True:
            read = file.read(piece)
            cut = read.rfind(b"\n") + 1 if read else 0
            if not read or cut:
                text, rest = rest + read[:cut], read[cut:]
                text, skip = _less_lines(text, skip)
                if text.strip():
                    yield text
            else:
                rest += read
                if len(rest) > longest:
                    raise FormatError(_too_long(path))
            if not read:
                return


def _too_long(path: Path) -> str:
    if is_packed(path):
        return f"{path}: a line of more than {_PACKED_LONGEST} bytes; unpack a file with such lines first, with gunzip"
    return f"{path}: a line of more than {_LONGEST} bytes"


def _less_lines(text: bytes, skip: int) -> tuple[bytes, int]:
    """The text without its first `skip` non-empty lines, and the number of lines still to be skipped."""
    if not skip:
        return text, 0
    begin = 0
    while skip and begin < len(text):
        end = text.find(b"\n", begin) + 1 or len(text)
        skip -= bool(text[begin:end].strip())
        begin = end
    return text[begin:], skip
