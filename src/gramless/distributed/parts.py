"""Parts on the workers of a Dask cluster."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gramless.arrays.memory import free_memory
from gramless.data.parts import Work, join_in_tree
from gramless.distributed.client import retries, running_workers, worker_memory
from gramless.distributed.pairs import DaskPairs
from gramless.distributed.work import failure, given, joined, work_on
from gramless.errors import PartitionError


class DaskParts:
    """Parts that are tasks of a cluster: held on its workers, or recomputed for every pass where they are too large.

    Parameters
    ----------
    client : distributed.Client
    items : list of Delayed
    held : bool
        Whether the items are held on the workers.
    """

    def __init__(self, client: Any, items: Sequence[Any], held: bool) -> None:
        self._client, self._items, self._held = client, list(items), held
        self.workers = sum(running_workers(client).values())
        self.memory = (worker_memory(client) or free_memory() // self.workers) // 2

    def __len__(self) -> int:
        return len(self._items)

    def map(
        self, work: Work, *shared: Any, each: Sequence[Any] | None = None, only: Sequence[int] | None = None
    ) -> list[Any]:
        """See :class:`gramless.data.Parts`."""
        numbers = list(range(len(self)) if only is None else only)
        with large_arguments():
            futures = self._client.compute(self._tasks(work, shared, each, numbers), retries=retries())
        try:
            return list(self._client.gather(futures))
        except PartitionError:
            raise
        except Exception as error:
            failed = [number for number, future in zip(numbers, futures, strict=True) if future.status == "error"]
            raise PartitionError(failure(failed, error) if failed else str(error)) from error

    def reduce(self, work: Work, *shared: Any, each: Sequence[Any] | None = None, join: Work = operator.add) -> Any:
        """See :class:`gramless.data.Parts`."""
        from dask import delayed

        tasks = self._tasks(work, shared, each, range(len(self)))
        total = join_in_tree(tasks, lambda group: delayed(joined, pure=False)(join, group))
        with large_arguments():
            future = self._client.compute(total, retries=retries())
        try:
            return future.result()
        except PartitionError:
            raise
        except Exception as error:
            raise PartitionError(self._named(error)) from error

    def kept(self, work: Work, *shared: Any) -> DaskParts:
        """See :class:`gramless.data.Parts`."""
        with large_arguments():
            items = self._client.persist(self._tasks(work, shared, None, range(len(self))), retries=retries())
        return DaskParts(self._client, items, held=True)

    def chosen(self, numbers: Sequence[int]) -> DaskParts:
        """See :class:`gramless.data.Parts`."""
        return DaskParts(self._client, [self._items[i] for i in numbers], self._held)

    def pairs(self, groups: Sequence[Sequence[int]], stack: Work) -> DaskPairs:
        """See :class:`gramless.data.Parts`."""
        from distributed import futures_of

        items = self._items if self._held else self._client.persist(self._items, retries=retries())
        return DaskPairs(self._client, [[futures_of(items[i])[0] for i in group] for group in groups], stack)

    def _tasks(
        self, work: Work, shared: Sequence[Any], each: Sequence[Any] | None, numbers: Sequence[int]
    ) -> list[Any]:
        """One task for each part; each shared argument is a task of its own, so that it is sent once."""
        from dask import delayed

        function = delayed(work_on, pure=False)
        common = [delayed(given, pure=False)(delayed(value, traverse=False)) for value in shared]
        values: list[tuple[Any, ...]] = (
            [()] * len(numbers) if each is None else [(delayed(v, traverse=False),) for v in each]
        )
        return [
            function(work, number, self._items[number], *common, *value)
            for number, value in zip(numbers, values, strict=True)
        ]

    def _named(self, error: BaseException) -> str:
        """The message, with the numbers of the failed parts where their futures are known."""
        from distributed import futures_of

        items = enumerate(self._items if self._held else [])
        failed = [number for number, item in items if futures_of(item)[0].status == "error"]
        if failed:
            return failure(failed, error)
        return f"a partition failed: {type(error).__name__}: {error}"


@contextmanager
def large_arguments() -> Iterator[None]:
    """Context without Dask's warning about large arguments: scattered arguments would be lost with their worker."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield
