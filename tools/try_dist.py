"""Installs each file of a folder in an empty environment without a compiler and tries it there: ``make dist``.

A wheel, or a source distribution that pip builds. What is tried: to import, to fit, to save, to load, and that the
same numbers come back.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

_TRY = """
import numpy as np, gramless
x = np.random.default_rng(0).standard_normal((200, 3))
model = gramless.KernelPCA(2, kernel="rbf").fit(x)
model.save("model.safetensors")
assert (gramless.load("model.safetensors").transform(x) == model.transform(x)).all()
assert gramless.KernelPCA(2, kernel=gramless.kernels.Gaussian(2.0), method="fourier").fit(x).method_ == "fourier"
print("gramless", gramless.__version__, "from", gramless.__file__)
"""


def try_file(path: Path, folder: Path) -> str:
    """What the trial prints; raises where pip or the trial fails."""
    home = folder / path.name
    venv.create(home / "venv", with_pip=True)
    python = str(home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    # a compiler that fails when it is called: nothing here is to be compiled
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    environment |= {name: "false" for name in ("CC", "CXX", "FC", "F77", "F90", "LD")}
    subprocess.run([python, "-m", "pip", "install", "-q", str(path.resolve())], check=True, env=environment)
    tried = subprocess.run([python, "-c", _TRY], check=True, env=environment, cwd=home, capture_output=True, text=True)
    return tried.stdout.strip()


if __name__ == "__main__":
    found = sorted(Path(sys.argv[1]).glob("gramless-*"))
    if len(found) < 2:
        raise SystemExit(f"{sys.argv[1]} has no wheel and source distribution: {found}")
    with tempfile.TemporaryDirectory() as scratch:
        for file in found:
            print(f"{file.name}: {try_file(file, Path(scratch))}")
