"""Shared by all tests."""

import shutil

import browser
import engines
import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, derandomize=True)
settings.load_profile("default")


def pytest_collection_modifyitems(config, items):
    """Keep the tests of a group in one worker: xdist 3.8 puts the name of the group where pytest 9.2 does not look."""
    for item in items if hasattr(config, "workerinput") else ():
        group = item.get_closest_marker("xdist_group")
        if group is not None and hasattr(item, "_id") and not item.nodeid.endswith(f"@{group.args[0]}"):
            item._id = type(item._id).parse(f"{item.nodeid}@{group.args[0]}")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session", autouse=True)
def _no_browser_stays():
    yield
    browser.close()


@pytest.fixture(scope="session")
def dask_client():
    """Cluster of two workers, each a process; its tests are in the group "engines", so that there is only one."""
    pytest.importorskip("distributed")
    with engines.dask_client() as client:
        yield client


@pytest.fixture(scope="session")
def spark():
    """Session of Spark in this process; its tests are in the group "engines", so that there is only one."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    with engines.spark_session() as session:
        yield session


@pytest.fixture
def write(tmp_path):
    """A function that writes a file."""

    def to_file(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


@pytest.fixture
def one_thread():
    """Let torch use one thread: more would wait for those of other tests."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
