from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="package")
def client() -> Iterator[Any]:
    """A client of two worker processes with one thread each."""
    dask = pytest.importorskip("dask", reason='dask is not installed: pip install ".[dask]"')
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    calm = {
        "distributed.scheduler.worker-ttl": None,  # a machine that pauses is not a lost worker
        "distributed.comm.timeouts.connect": "120s",
        "distributed.comm.timeouts.tcp": "120s",
        "distributed.admin.tick.limit": "1h",
        "distributed.scheduler.work-stealing": False,  # by chance, and with it the bytes that are sent
    }
    with (
        dask.config.set(calm),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="1GB"
        ) as cluster,
        distributed.Client(cluster) as active,
    ):
        yield active
