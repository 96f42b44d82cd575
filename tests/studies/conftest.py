"""Shared by the tests of the studies."""

import pytest


@pytest.fixture
def one_thread():
    """Let torch use one thread: more would wait for those of other tests."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
