"""The fused Triton kernel: K V tile by tile on the tensor cores, K never in memory, each tile used twice."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _exp2(x):
    return tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def _values(dot, left, right, first, second, power, PROFILE: tl.constexpr, DEGREE: tl.constexpr):
    """Kernel values times 2^power from the products of two blocks of rows, by the name of the profile."""
    if PROFILE == "folded":
        return _exp2(dot * first + second)
    elif PROFILE == "gaussian":
        return _exp2(dot * first + left[:, None] + right[None, :])
    elif PROFILE == "polynomial":
        base = dot * first + second
        value = base
        for _ in tl.static_range(DEGREE - 1):
            value = value * base
        return value * power
    elif PROFILE == "tanh":
        t = _exp2(tl.minimum(dot * first + second, 126.0))  # first and second include 2 log2(e)
        return power * (1.0 - 2.0 / (t + 1.0))
    else:
        squared = tl.maximum(dot * first + left[:, None] + right[None, :], 0.0)
        if PROFILE == "epanechnikov":
            return power * tl.maximum(1.0 - squared, 0.0)
        t = tl.sqrt_rn(squared)
        decay = _exp2(second - t * 1.4426950408889634)
        if PROFILE == "matern32":
            decay = decay * (1.0 + t)
        if PROFILE == "matern52":
            decay = decay * (1.0 + t * (1.0 + t * 0.3333333333333333))
        return decay


@triton.jit
def _stepped(x_high, x_low, x_at, y_high, y_low, y_at, dot, D: tl.constexpr, STEP: tl.constexpr,
             HALVES: tl.constexpr, STAGES: tl.constexpr):  # fmt: skip
    """Products of two blocks of rows with more columns than stay in shared memory, some columns at a time."""
    for k in tl.range(0, D, STEP, num_stages=STAGES):
        a_high = tl.load(x_high + x_at + k)
        b_high = tl.load(y_high + y_at + k)
        if HALVES == 2:
            a_low = tl.load(x_low + x_at + k)
            b_low = tl.load(y_low + y_at + k)
            dot = tl.dot(a_low, b_high, dot)
            dot = tl.dot(a_high, b_low, dot)
        dot = tl.dot(a_high, b_high, dot)
    return dot


@triton.jit
def _times(k_high, k_low, v_high, v_low, HALVES: tl.constexpr):
    """(k_high + k_low) (v_high + v_low), without the product of the two low halves, in a fresh accumulator."""
    if HALVES == 2:
        part = tl.dot(k_low, v_high)
        part = tl.dot(k_high, v_low, part)
        return tl.dot(k_high, v_high, part)
    else:
        return tl.dot(k_high, v_high)


@triton.jit
def _times_transposed(k_high, k_low, v_high, v_low, HALVES: tl.constexpr):
    """(k_high + k_low)^T (v_high + v_low), likewise; a transpose by the caller would take half as long again."""
    if HALVES == 2:
        part = tl.dot(tl.trans(k_low), v_high)
        part = tl.dot(tl.trans(k_high), v_low, part)
        return tl.dot(tl.trans(k_high), v_high, part)
    else:
        return tl.dot(tl.trans(k_high), v_high)


@triton.jit(do_not_specialize=["groups", "first_group"])  # else compiled again for every number of rows
def product_tiles(
    x_high, x_low, x_bias, y_high, y_low, y_bias, v_high, v_low, rows_out, columns_out,
    n, groups, first_group, first, second, power,
    D: tl.constexpr, STEP: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, VECTORS: tl.constexpr,
    SUB: tl.constexpr, CHUNK: tl.constexpr, SYMMETRIC: tl.constexpr, PROFILE: tl.constexpr, DEGREE: tl.constexpr,
    X_HALVES: tl.constexpr, V_HALVES: tl.constexpr, EXACT_DIAGONAL: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Partial sums of K v over chunks of columns, for groups of SUB * ROWS rows; of K^T v as well where SYMMETRIC.

    Rows x (n, D) and columns y are given as float16 halves, high + low, with a term (n,) for each row; vectors
    v (m, VECTORS) as halves too. A tile K is computed by three products of halves, x_low y_high + x_high y_low +
    x_high y_high, split into halves again, and multiplied the same way. The accumulator of a tensor core truncates what
    it adds, so each tile starts a new one, and totals are added outside of it. Where SYMMETRIC, tiles above the
    diagonal also give K^T v of their rows, summed over the blocks of a group in `columns_out` (groups, n, VECTORS).
    """
    group = tl.program_id(0)
    chunk = tl.program_id(1)
    top = (first_group + group) * (SUB * ROWS)
    end = tl.minimum((chunk + 1) * CHUNK, n)
    if SYMMETRIC and end <= top:
        return
    v_index = tl.arange(0, VECTORS)
    step_index = tl.arange(0, STEP)
    for sub in range(SUB):
        rows = top + sub * ROWS
        start = chunk * CHUNK
        row_index = rows + tl.arange(0, ROWS)
        left = tl.load(x_bias + row_index)
        v_at = row_index[:, None] * VECTORS + v_index[None, :]
        if SYMMETRIC:
            start = tl.maximum(start, rows)
            vi_high = tl.load(v_high + v_at)
            vi_low = tl.load(v_low + v_at) if V_HALVES == 2 else vi_high
        x_at = row_index[:, None] * D + step_index[None, :]
        if D == STEP:
            xi_high = tl.load(x_high + x_at)
            if X_HALVES == 2:
                xi_low = tl.load(x_low + x_at)
        total = tl.zeros((ROWS, VECTORS), dtype=tl.float32)
        for column in range(start, end, COLUMNS):
            column_index = column + tl.arange(0, COLUMNS)
            w_at = column_index[:, None] * VECTORS + v_index[None, :]
            if SYMMETRIC:
                # tiles in the square block on the diagonal are all computed, so none of them is used twice
                off = column >= rows + ROWS
                place = columns_out + group.to(tl.int64) * n * VECTORS + w_at
                if SUB > 1:
                    before = tl.load(place, mask=(w_at >= 0) & off & (sub > 0), other=0.0)
            right = tl.load(y_bias + column_index)
            y_at = column_index[None, :] * D + step_index[:, None]
            dot = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
            if D == STEP:
                yj_high = tl.load(y_high + y_at)
                if X_HALVES == 2:
                    yj_low = tl.load(y_low + y_at)
                    dot = tl.dot(xi_low, yj_high)
                    dot = tl.dot(xi_high, yj_low, dot)
                dot = tl.dot(xi_high, yj_high, dot)
            else:
                dot = _stepped(x_high, x_low, x_at, y_high, y_low, y_at, dot, D, STEP, X_HALVES, STAGES)
            value = _values(dot, left, right, first, second, power, PROFILE, DEGREE)
            if EXACT_DIAGONAL:
                value = tl.where(row_index[:, None] == column_index[None, :], power, value)
            k_high = value.to(tl.float16)
            vj_high = tl.load(v_high + w_at)
            if V_HALVES == 2:
                k_low = (value - k_high.to(tl.float32)).to(tl.float16)
                vj_low = tl.load(v_low + w_at)
            else:
                k_low, vj_low = k_high, vj_high
            total += _times(k_high, k_low, vj_high, vj_low, V_HALVES)
            if SYMMETRIC:
                above = _times_transposed(k_high, k_low, vi_high, vi_low, V_HALVES)
                if SUB > 1:
                    above += before
                tl.store(place, above, mask=(w_at >= 0) & off)
        if start < end:
            held = chunk.to(tl.int64) * groups * (SUB * ROWS) - first_group * (SUB * ROWS)
            tl.store(rows_out + held * VECTORS + v_at, total)
        tl.debug_barrier()


@triton.jit(do_not_specialize=["groups", "first_group", "chunks"])
def gather_partials(
    rows_out,
    columns_out,
    out,
    n,
    first_group,
    groups,
    chunks,
    ROWS: tl.constexpr,
    VECTORS: tl.constexpr,
    SUB: tl.constexpr,
    CHUNK: tl.constexpr,
    SYMMETRIC: tl.constexpr,
    TILE: tl.constexpr,
):
    """Add the partial sums of a wave of groups to the totals, in a fixed order and in float64."""
    top = tl.program_id(0) * TILE
    at = (top + tl.arange(0, TILE))[:, None] * VECTORS + tl.arange(0, VECTORS)[None, :]
    block = top // ROWS * ROWS
    total = tl.load(out + at)
    ours = block // (SUB * ROWS) - first_group  # the group of these rows within the wave, if inside
    inside = (ours >= 0) & (ours < groups)
    begin = 0
    if SYMMETRIC:
        begin = block // CHUNK
        reach = tl.minimum(groups, tl.where(block % (SUB * ROWS) == 0, ours, ours + 1))
        for g in range(0, reach):
            total += tl.load(columns_out + tl.cast(g, tl.int64) * n * VECTORS + at).to(tl.float64)
    if inside:
        for c in range(begin, chunks):
            held = tl.cast(c, tl.int64) * groups * (SUB * ROWS) - first_group * (SUB * ROWS)
            total += tl.load(rows_out + held * VECTORS + at).to(tl.float64)
    tl.store(out + at, total)
