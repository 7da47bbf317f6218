import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "gramless",
    deadline=None,
    derandomize=True,
    max_examples=int(os.environ.get("GRAMLESS_EXAMPLES", "25")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gramless")


@pytest.fixture(scope="session")
def data_folder(pytestconfig: pytest.Config) -> Path:
    """Folder of real data sets: GRAMLESS_DATA, or shared/data beside the repository."""
    folder = Path(os.environ.get("GRAMLESS_DATA", pytestconfig.rootpath.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no folder of data sets at {folder}; set GRAMLESS_DATA to one")
    return folder
