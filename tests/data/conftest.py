import pytest


@pytest.fixture
def write(tmp_path):
    """A function that writes a file."""

    def to_file(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file
