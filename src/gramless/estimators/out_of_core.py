"""Fits to rows from files and other sources: the part of `KernelPCA` that reads blocks of more than fits in memory."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays import Array, parse_memory, refuse_weights, use_threads
from gramless.errors import IndefiniteKernelWarning, MemoryLimitError, SourceError
from gramless.estimators.asking import components_asked, domain_around, make_request, pose_components, to_plan
from gramless.estimators.bandwidth import gamma_of_variance, resolve_gamma
from gramless.estimators.columns import take_columns
from gramless.estimators.domain import read_domain
from gramless.estimators.dominance import SCALE_FIRST, SCALE_INPUT, warn_of_width
from gramless.estimators.following import following
from gramless.estimators.preimages import sample_size
from gramless.estimators.reading import is_precomputed, read_kernel, read_seed
from gramless.estimators.resuming import open_checkpoint, warn_unused
from gramless.estimators.seen_rows import deviations
from gramless.estimators.select_bandwidth import searched_gamma
from gramless.estimators.source_rows import affordable_rows, open_rows
from gramless.execution import LocalRows, read_ahead
from gramless.features import FeatureMap, maps
from gramless.kernels import Kernel
from gramless.persistence.checkpoint import FileCheckpoint
from gramless.planning import Plan, make_plan, methods
from gramless.problem import Problem
from gramless.progress import observer
from gramless.routes.blockwise import Begun, Gathering, fit_blockwise, shared_pairs
from gramless.routes.survey import Survey, SurveyOf

_SAMPLE = 20_480  # rows: what the choice of a thousand landmarks looks at


class OutOfCore:
    """Methods of :class:`~gramless.KernelPCA` that fit to rows read in blocks."""

    _input_mean: Array
    _input_scale: Array
    _sample: Any

    def _fit_source(self: Any, X: Any, sample_weight: Any) -> Any:
        """`fit`, for a source."""
        if is_precomputed(self.kernel):
            raise ValueError("kernel='precomputed' needs the whole matrix: pass it as an array, not as a source")
        rows = open_rows(self, X, sample_weight)
        with following(self, X, None, sample_weight), use_threads(self.n_jobs):
            if self.forget is not None:
                return self._fit_in_batches(rows)
            checkpoint = rows.checkpoint = open_checkpoint(self, rows, sample_weight)
            self._forget()
            take_columns(self, rows)
            if checkpoint is not None and checkpoint.task == "moments":
                self._resume(rows, checkpoint)
            else:
                self._begin(rows)
            if checkpoint is not None:
                checkpoint.done()
        return self

    def _begin(self: Any, rows: LocalRows) -> None:
        """Plan, from a first block where one pass will do and from a pass over all rows where not; then fit."""
        if rows.n_rows is not None:
            self._refuse_too_many(rows.n_rows, rows.name)
        plan = self._plan_single_pass(rows) if rows.checkpoint is None or not rows.checkpoint.task else None
        if plan is not None and plan.chosen in maps:
            head = rows.head()
            warn_of_width(self, head.x, head.weights, SCALE_FIRST)
            self.plan_ = plan
            plan.warn_if_long()
            self._gather(rows, self._make_features(head.x, head.weights), rows.n_rows)
        elif plan is not None:
            self._fit_in_batches(rows)
        else:
            self._fit_surveyed(rows)

    def _plan_single_pass(self: Any, rows: LocalRows) -> Plan | None:
        """A plan that needs every row once; None where the rows can be read again and that is worth it."""
        known = not isinstance(self.gamma, str) and not self._moves_input
        again = rows.restartable and not rows.sparse
        if again and not (known and self.method in ("auto", *maps)):
            return None
        if self._moves_input:
            asked = "scale_input" if self.scale_input else "center_input"
            raise ValueError(f"{asked}=True takes two passes over dense rows, which {rows.name} does not allow")
        head = rows.head()
        with warnings.catch_warnings():
            if again:  # what there is to say of the kernel will be said when all rows are known
                warnings.simplefilter("ignore", IndefiniteKernelWarning)
            kernel = self._source_kernel(head.x, head.weights)
        rows.work_on(head, lambda block: domain_around(self, block.x))  # refuses rows outside
        try:
            problem = self._stream_problem(pose_components(self, head.x, kernel, head.weights, block=rows.block_rows))
            problem = replace(problem, n=rows.n_rows or max(10**6, head.x.shape[0]), k=components_asked(self) or 16)
            plan = make_plan(problem, self.method)
        except (ValueError, MemoryLimitError):
            if again:
                return None
            raise
        boxed = plan.chosen in maps and maps[plan.chosen].boxed  # by domain=, or it would have been refused
        return plan if plan.chosen == "monomials" or boxed or not again else None

    def _fit_surveyed(self: Any, rows: LocalRows) -> None:
        """Look at all rows once, plan, and fit."""
        problem, sample, weights = self._survey(rows)
        warn_of_width(self, sample, weights, SCALE_INPUT)
        self._run_plan(rows, problem, sample, weights)

    def _survey(self: Any, rows: LocalRows) -> tuple[Problem, Any, Array]:
        """The problem, and a sample of the rows with its weights, from a pass over all of them."""
        limit = parse_memory(self.memory_limit)
        if rows.checkpoint is not None:  # what is free may have changed since
            if rows.checkpoint.task != "survey":
                rows.checkpoint.begin("survey", limit)
            limit = rows.checkpoint.kept
        size = max(1000, min(_SAMPLE, affordable_rows(limit, rows.n_features)))
        seed = int(read_seed(self.random_state).integers(2**31))
        measures = self._moves_input or self.gamma == "scale"
        survey = rows.map_reduce(SurveyOf(size, measures, seed), "survey")
        refuse_weights(survey.weight)
        rows.n_rows = survey.rows
        self._refuse_too_many(survey.rows, rows.name)
        sample, weights = survey.sample.rows, survey.sample.weights
        seen, moved = sample, survey
        if self._moves_input:
            self._input_mean, scale = survey.mean, np.ones_like(survey.mean)
            if self.scale_input:
                self._input_scale = scale = deviations(survey.squares / survey.weight, survey.low, survey.high)
            seen, moved = self._rows_for_kernel(sample), survey.moved(survey.mean, scale)
        kernel = self._source_kernel(*((seen, weights, moved) if self.scale_input else (sample, weights, survey)))
        mapped = rows.mappable and not self._moves_input
        problem = pose_components(self, seen, kernel, weights, survey=moved, block=rows.block_rows, mapped=mapped)
        return replace(problem, memory_limit=limit), seen, weights

    def _run_plan(self: Any, rows: LocalRows, problem: Problem, sample: Any, weights: Array) -> None:
        """The cheapest method; one that finds that memory does not suffice gives way."""

        def run(plan: Plan) -> None:
            self.plan_, self.method_ = plan, plan.chosen
            if plan.chosen in maps:
                features = self._make_features(sample, weights)
                features = shared_pairs(features, -(-problem.n // rows.block_rows))
                self._gather(rows, features, problem.n)
            else:
                self._fit_at_once(rows, problem)

        plan = self._plan_surveyed(problem)
        plan.warn_if_long()
        plan.carry_out(run)

    def _plan_surveyed(self: Any, problem: Problem) -> Plan:
        return make_plan(to_plan(self, problem), self.method)

    def _fit_at_once(self: Any, rows: LocalRows, problem: Problem) -> None:
        """A method that wants rows in any order: from a memory map, or from memory, where the plan found room."""
        if rows.checkpoint is not None:
            warn_unused(self.checkpoint, self.method_)
        observer().begins(self.method_, self.plan_.candidates[self.method_].seconds)
        x, weights = rows.at_once()
        placed = replace(problem, device=self.plan_.placed.device, anywhere=False)
        fitted = methods[self.method_].run(placed, self._rows_for_kernel(x), weights, make_request(self))
        self._keep(fitted, x, weights)
        if self.fit_inverse_transform:
            self._sample_rows(x, weights)
            self._fit_inverse(x, weights)
        if not self.keep_data:
            self._drop_data()

    def _make_features(self: Any, sample: Any, weights: Array) -> FeatureMap:
        builder, problem = maps[self.plan_.chosen], self.plan_.placed
        if builder.boxed:  # the number of rows matters to its memory only, and that is for one block
            problem = replace(problem, n=min(problem.n, problem.block))
        return builder.make(problem, sample, weights, make_request(self).rng)

    def _gather(self: Any, rows: LocalRows, features: FeatureMap, n_rows: int | None) -> None:
        """The pass that sums moments, and the model it leads to."""
        self.method_ = self.plan_.chosen
        if rows.checkpoint is not None:
            moved = (self._input_mean if self._moves_input else None, self._input_scale if self.scale_input else None)
            rows.checkpoint.begin("moments", Begun(self.plan_, features, self.gamma_, n_rows, *moved))
        self._finish(rows, features, n_rows)

    def _resume(self: Any, rows: LocalRows, checkpoint: FileCheckpoint) -> None:
        """Go on with a pass that was interrupted."""
        begun: Begun = checkpoint.kept
        self.plan_, self.gamma_ = begun.plan, begun.gamma
        if self._moves_input:
            self._input_mean = begun.mean
        if self.scale_input:
            self._input_scale = begun.scale
        self.method_ = self.plan_.chosen
        self._finish(rows, begun.features, begun.rows)

    def _finish(self: Any, rows: LocalRows, features: FeatureMap, n_rows: int | None) -> None:
        observer().begins(self.method_, self.plan_.candidates[self.method_].seconds)
        domain = None if self.domain is None or rows.sparse else read_domain(self.domain, rows.n_features)
        size = 0
        if self.fit_inverse_transform:
            room = affordable_rows(self.plan_.problem.memory_limit, rows.n_features)
            size = max(1, min(sample_size(self, rows.n_features), room))
        seed = int(read_seed(self.random_state).integers(2**31))
        center = self._input_mean if self._moves_input else None
        scale = self._input_scale if self.scale_input else None
        device = self.plan_.candidates[self.method_].device
        work = Gathering(features, n_rows, center, domain, size, seed, device, scale)
        problem = replace(self.plan_.problem, k=components_asked(self))
        fitted, sample = fit_blockwise(rows, work, problem, make_request(self))
        self._set(fitted, rows.dtype)
        if sample is not None:
            self._sample = sample

    def _fit_in_batches(self: Any, rows: LocalRows) -> Any:
        """A stream whose batches are the blocks: for methods that are no sums."""
        if self.checkpoint is not None:
            raise ValueError(
                f"checkpoint={self.checkpoint!r} needs a method whose blocks add up, and {rows.name} leads to a stream;"
                " give a source that can be read again, or domain="
            )
        self._forget()
        self._take_blocks(rows, fresh=True)
        return self

    def _take_blocks(self: Any, rows: LocalRows, *, fresh: bool) -> None:
        """`partial_fit` of every block, the next one being read meanwhile."""
        names = None if fresh else self.__dict__.pop("feature_names_in_", None)
        for block in read_ahead(rows.taken_up()):
            if block.weights.any():
                self._take_batch(block.x, block.weights)
        if names is not None:
            self.feature_names_in_ = names
        elif fresh and hasattr(self, "n_features_in_"):
            take_columns(self, rows)

    def _source_kernel(self: Any, sample: Any, weights: Array, survey: Survey | None = None) -> Kernel:
        """The kernel, with the gamma that suits rows seen in a sample; ``"scale"`` comes from all of them."""
        gamma = self.gamma
        if gamma == "scale" and survey is not None:
            gamma = gamma_of_variance(survey.variance, len(survey.mean), self.kernel)
        found = searched_gamma(self, sample, weights)
        self.gamma_ = resolve_gamma(gamma if found is None else found, sample, weights, self.kernel)
        return read_kernel(self.kernel, self.gamma_, self.degree, self.coef0, self.kernel_params)

    def _refuse_too_many(self: Any, n: int, name: str) -> None:
        if n == 0:
            raise SourceError(f"{name} has no rows")
        if components_asked(self) > n:
            raise ValueError(f"n_components={self.n_components} is more than the {n} rows of {name}; pass at most {n}")
        if n < 2:
            raise ValueError(f"{name} has {n} row; at least 2 are needed")
