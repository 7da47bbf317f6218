"""Modules that need torch or triton are left alone where those are not installed."""

import importlib.util

_CUDA = "src/gramless/gram/cuda"
collect_ignore_glob = []
if importlib.util.find_spec("torch") is None:
    collect_ignore_glob.append(f"{_CUDA}/*.py")
elif importlib.util.find_spec("triton") is None:
    collect_ignore_glob += [f"{_CUDA}/kernel.py", f"{_CUDA}/fused.py"]
