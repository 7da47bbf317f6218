"""One file: written whole or not at all, read without running anything."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from gramless.arrays import Array

#: Number of the format; a file with another one is refused.
FORMAT = 1


def write_file(path: Any, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write beside `path` first, then move there in one step: a reader sees the old file or the new one."""
    from safetensors.numpy import save_file

    path = Path(path)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(descriptor)
    try:
        save_file(arrays, name, metadata={"gramless": json.dumps({"format": FORMAT, **header}, allow_nan=False)})
        with open(name, "rb") as written:
            os.fsync(written.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_file(path: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays; raises a ValueError where `path` is not a file of this format."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{path} is not a file of a gramless model: {error}") from None
    if "gramless" not in metadata:
        raise ValueError(f"{path} is a safetensors file, but not one of a gramless model")
    header = json.loads(metadata["gramless"])
    if header.get("format") != FORMAT:
        raise ValueError(
            f"{path} has format {header.get('format')!r} (written by gramless {header.get('version')}); this version "
            f"reads format {FORMAT}"
        )
    return header, arrays
