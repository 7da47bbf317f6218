"""NumPy's archive, written block by block: the array first beside it, then packed."""

from __future__ import annotations

import zipfile
from pathlib import Path

from gramless.arrays import Array
from gramless.sources.writers import NpyWriter, Writer, writers


@writers.register(".npz")
class NpzWriter(Writer):
    """An archive with one array, ``rows``."""

    def begin(self, path: Path) -> None:
        self._packed = path
        self._plain = path.with_name(f"{path.name}.npy")
        self._inner = NpyWriter(self._plain, self.names, self.dtype)
        self._inner.begin(self._plain)

    def append(self, block: Array) -> None:
        self._inner.append(block)
        self._inner.rows += len(block)

    def end(self) -> None:
        try:
            self._inner.end()
            with zipfile.ZipFile(self._packed, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
                archive.write(self._plain, "rows.npy")
        finally:
            self._plain.unlink(missing_ok=True)
