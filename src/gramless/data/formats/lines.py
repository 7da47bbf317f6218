"""Text files, plain or compressed by gzip, read in pieces that end with a line."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gramless.errors import FormatError

_PIECE, _PACKED_PIECE = 2**23, 2**21  # bytes
_LONGEST, _PACKED_LONGEST = 2**27, 2**22  # bytes of a line; a small gzip file can expand to an endless line
_HEAD = 2**14  # bytes from which it is found out how a file is written
_FEWEST = 4  # lines, however long
_CHUNK = 2**18  # bytes that are converted at a time


@contextmanager
def opened(path: Path, encoding: str = "utf-8") -> Iterator[Any]:
    """Context of a binary file of UTF-8 text, decompressed on the fly where its name ends in ``.gz``.

    A file of another encoding is converted on the fly. The byte order mark of UTF-8 is skipped.

    Raises
    ------
    FormatError
        If a ``.gz`` file is damaged, truncated, or not compressed at all; if bytes do not belong to the encoding.
    """
    with gzip.open(path, "rb") if is_packed(path) else open(path, "rb") as file:
        try:
            if encoding == "utf-8":
                file.seek(len(codecs.BOM_UTF8) if file.read(3) == codecs.BOM_UTF8 else 0)
                yield file
            else:
                yield io.BufferedReader(_Converted(file, encoding), _CHUNK)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(
                f"{path} is not a complete gzip file: {error}; copy or compress it again, or rename it if it is not "
                "compressed"
            ) from error
        except UnicodeDecodeError as error:
            raise FormatError(
                f'{path} is not {encoding} text: {error}; pass another read_options={{"encoding": ...}}, or save it as '
                "UTF-8"
            ) from error


class _Converted(io.RawIOBase):
    """The bytes of a file in UTF-8."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._file, self._rest = file, b""
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self._rest:
            read = self._file.read(_CHUNK)
            self._rest = self._decoder.decode(read, final=not read).encode("utf-8")
            if not read:
                break
        taken, self._rest = self._rest[: len(room)], self._rest[len(room) :]
        room[: len(taken)] = taken
        return len(taken)


def first_bytes(path: Path, count: int) -> bytes:
    """The first bytes of a file, decompressed."""
    with opened(path) as file:
        return bytes(file.read(count))


def first_lines(path: Path, encoding: str, skip: int = 0) -> list[bytes]:
    """The first lines of a file in UTF-8: after `skip` lines, four lines at least, and 16 kB, where there are as many.

    Raises where a line is too long for a table, before all of it is in memory.
    """
    longest = _PACKED_LONGEST if is_packed(path) else _LONGEST
    lines: list[bytes] = []
    size = 0
    with opened(path, encoding) as file:
        while (size < _HEAD or len(lines) < skip + _FEWEST) and (line := file.readline(longest)):
            if len(line) == longest and not line.endswith(b"\n"):
                raise FormatError(_too_long(path))
            lines.append(line)
            size += len(line) if len(lines) > skip else 0
    return lines


def is_packed(path: Path) -> bool:
    """Whether the name of a file ends in ``.gz``."""
    return path.suffix.lower() == ".gz"


def whole_lines(
    path: Path, begin: int, skip: int, encoding: str = "utf-8", clean: Callable[[bytes], bytes] = bytes
) -> Iterator[bytes]:
    """The file from byte `begin` of its text on, in pieces that end with a line, after `clean`.

    The first `skip` lines that are not empty are left out.
    """
    piece, longest = (_PACKED_PIECE, _PACKED_LONGEST) if is_packed(path) else (_PIECE, _LONGEST)
    rest = b""
    with opened(path, encoding) as file:
        file.read(begin)
        while True:
            read = file.read(piece)
            cut = read.rfind(b"\n") + 1 if read else 0
            if not read or cut:
                text, rest = clean(rest + read[:cut]), read[cut:]
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
        return f"{path}: a line of more than {_PACKED_LONGEST} bytes; decompress the file first, with gunzip"
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
