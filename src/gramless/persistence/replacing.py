"""Atomic replacement of a file: whatever happens, either the old file or the new one is there, complete."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

_UNABLE = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM}  # if a folder cannot be opened or synchronized


@contextmanager
def replacing(path: Any) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when the context ends without an error.

    The file is written in the same folder, under a name that begins with a dot. Its bytes are on disk before it is
    renamed, and the new name is on disk before the context ends. After any error the file is removed, and `path` is
    unchanged. A symbolic link is followed.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> with replacing(path) as file:
    ...     count = file.write(b"new")
    >>> path.read_bytes()
    b'new'
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {Path(path).parent}; create it first")
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")
    # not tempfile: the file gets the permissions that open() would give it
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(beside, flags, 0o666)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _synchronise(target.parent)


def _synchronise(folder: Path) -> None:
    """Wait until the folder's entries are on the disk, where the system can do that."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _UNABLE:
            raise
