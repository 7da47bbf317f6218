"""The stream that suits a first batch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gramless.arrays import Array
from gramless.arrays.devices import rows_on
from gramless.features import maps
from gramless.planning import methods
from gramless.problem import Problem, Request
from gramless.routes.stream.base import Stream
from gramless.routes.stream.merging import empty_merging_stream
from gramless.routes.stream.moments import MomentStream
from gramless.routes.stream.refitting import RefittingStream


def open_stream(method: str, problem: Problem, x: Any, weights: Array, request: Request) -> Stream:
    """A stream that has taken in the rows `x` (n, d) with `weights` (n,) > 0, by the method the plan chose."""
    if method == "refitting":
        return RefittingStream(problem.kernel, x, weights)
    if method == "merging":
        return empty_merging_stream(problem, request).add(x, weights)
    device = methods[method].estimate(problem).device
    features = maps[method].make(replace(problem, device=device), x, weights, request.rng)
    return MomentStream(features, features.moments(rows_on(device, x), weights), device)
