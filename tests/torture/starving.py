"""Too little memory: a plan that does not fit is refused before it begins, and what fits is chosen instead."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOM = 400_000_000


def run(seed):
    """One child under RLIMIT_AS. Returns counts, and what went wrong."""
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, __file__, str(seed)], capture_output=True, text=True, timeout=900, check=False, env=environment
    )
    if done.returncode != 0:
        return {"children": 1, "failures": [f"a child with little memory ended with {done.returncode}: {done.stderr}"]}
    said = json.loads(done.stdout)
    wrong = []
    if "MemoryLimitError" not in said["dense"]:
        wrong.append(f"a Gram matrix beyond RLIMIT_AS was not refused: {said['dense']}")
    if said["auto"] in ("dense", "") or not said["finite"]:
        wrong.append(f"nothing was found that fits: {said}")
    return {"children": 1, "failures": wrong}


def main():
    import resource

    import numpy as np

    from gramless import KernelPCA

    x = np.random.default_rng(int(sys.argv[1])).standard_normal((9000, 6))
    KernelPCA(2, kernel="rbf").fit(x[:200])  # imports, threads and their stacks
    held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + ROOM, held + ROOM))
    said = {}
    try:
        KernelPCA(2, kernel="sigmoid", method="dense").fit(x)  # 9000^2 doubles: 650 MB
        said["dense"] = "fitted"
    except MemoryError as error:
        said["dense"] = f"{type(error).__name__}: {error}"
    model = KernelPCA(2, kernel="rbf", gamma="median", tol=1e-2).fit(x)
    said |= {"auto": model.method_, "finite": bool(np.isfinite(model.transform(x[:50])).all())}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
