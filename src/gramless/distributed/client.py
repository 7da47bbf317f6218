"""The Dask client that is active, or one of our own for the time of a call."""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gramless.arrays import thread_count

_WAIT = "60s"  # for the first worker of a cluster that is starting


@contextmanager
def cluster_client() -> Iterator[Any]:
    """Context of a client: the active one, whose cluster has at least one worker, or a local one that is closed after.

    A local cluster has a process for every thread this process may use, one thread each: NumPy and finufft then share
    no core.
    """
    from distributed import Client, default_client

    try:
        client = default_client()
    except ValueError:
        client = None
    if client is None:  # outside of `except`, or errors of the work would be told as following from this one
        with _local_cluster() as cluster, Client(cluster, set_as_default=False) as own:
            yield own
        return
    if client.asynchronous:
        raise ValueError("the active Dask client is asynchronous; make one with Client(address) for this call")
    running_workers(client)
    yield client


def _local_cluster() -> Any:
    """A cluster of processes on this machine.

    Every one of them imports the script that was started. Where that calls `fit` outside of
    ``if __name__ == "__main__"``, it comes here again, before it is a worker: it has to go without a word, and the
    first process says what to do.
    """
    from distributed import LocalCluster

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)
    nanny = logging.getLogger("distributed.nanny")
    level = nanny.level
    nanny.setLevel(logging.CRITICAL)  # what goes wrong now is raised
    try:
        return LocalCluster(
            n_workers=thread_count(), threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=40
        )
    except RuntimeError as error:
        raise RuntimeError(
            f"the workers of a local Dask cluster did not start ({str(error).rstrip('.')}). In a script, make the call "
            'under `if __name__ == "__main__":`, since every worker imports the script; or start a cluster yourself, '
            "with dask.distributed.Client(...), before the call"
        ) from None
    finally:
        nanny.setLevel(level)


def running_workers(client: Any) -> dict[str, int]:
    """Address of each worker, and its threads; waits for one where there is none, as when all are starting anew."""
    while not (workers := client.nthreads()):
        try:
            client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError:
            raise TimeoutError(
                f"the cluster at {client.scheduler.address} had no worker for {_WAIT}; start some, and fit again"
            ) from None
    return dict(workers)


def worker_memory(client: Any) -> int:
    """Bytes that the smallest worker has for each of its threads; 0 where workers have no limit."""
    try:
        info = client.scheduler_info(n_workers=-1)
    except TypeError:  # before 2024.12 there was no limit to lift
        info = client.scheduler_info()
    shares = [worker["memory_limit"] // max(1, worker["nthreads"]) for worker in info["workers"].values()]
    return int(min((share for share in shares if share), default=0))


def retries() -> int:
    """How often Dask may try a piece of work again: ``gramless.retries`` in its configuration, 3 by default."""
    import dask

    return int(dask.config.get("gramless.retries", int(os.environ.get("GRAMLESS_RETRIES", "3"))))
