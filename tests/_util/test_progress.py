"""Bars of work that takes a while."""

import io

import pytest

from correspondence._util.progress import make_progress_bar


@pytest.mark.parametrize(("progress", "is_silent"), [(True, False), (False, True), (None, True)])
def test_a_bar_is_shown_on_request_or_in_a_terminal(progress, is_silent, monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    with make_progress_bar(3, "folds", progress) as bar:
        bar.update(3)
    assert (written.getvalue() == "") == is_silent
    assert is_silent or "folds" in written.getvalue()
