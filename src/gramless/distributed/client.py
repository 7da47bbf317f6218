"""The active Dask client, or a client of a local cluster for the duration of a call."""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gramless.arrays import thread_count

_WAIT = "60s"  # wait for the first worker of a starting cluster


@contextmanager
def cluster_client() -> Iterator[Any]:
    """Context of a Dask client: the active client, or a client of a local cluster that is closed at the end.

    A local cluster has one single-threaded process for each thread that this process may use, so that NumPy and
    finufft do not compete for cores.
    """
    from distributed import Client, default_client

    try:
        client = default_client()
    except ValueError:
        client = None
    if client is None:  # outside of `except`, or this ValueError would be the context of every later error
        with _local_cluster() as cluster, Client(cluster, set_as_default=False) as own:
            yield own
        return
    if client.asynchronous:
        raise ValueError("the active Dask client is asynchronous; make one with Client(address) for this call")
    running_workers(client)
    yield client


def _local_cluster() -> Any:
    """A cluster of processes on this machine.

    Every process imports the main script. A script that calls `fit` outside of ``if __name__ == "__main__"`` comes here
    again in each process that is starting. Such a process exits silently, and the first process raises the error that
    says what to do.
    """
    from distributed import LocalCluster

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)
    nanny = logging.getLogger("distributed.nanny")
    level = nanny.level
    nanny.setLevel(logging.CRITICAL)  # failures to start are raised below
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
    """Address and number of threads of each worker; waits where there is no worker, as when all are restarting."""
    while not (workers := client.nthreads()):
        try:
            client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError:
            raise TimeoutError(
                f"the cluster at {client.scheduler.address} had no worker for {_WAIT}; start some, and fit again"
            ) from None
    return dict(workers)


def worker_memory(client: Any) -> int:
    """Least memory per thread of any worker, in bytes; 0 where workers have no limit."""
    try:
        info = client.scheduler_info(n_workers=-1)
    except TypeError:  # before 2024.12, Dask always listed all workers
        info = client.scheduler_info()
    shares = [worker["memory_limit"] // max(1, worker["nthreads"]) for worker in info["workers"].values()]
    return int(min((share for share in shares if share), default=0))


def retries() -> int:
    """How often Dask retries a task: ``gramless.retries`` in Dask's configuration, else GRAMLESS_RETRIES, else 3."""
    import dask

    return int(dask.config.get("gramless.retries", int(os.environ.get("GRAMLESS_RETRIES", "3"))))
