"""Bars of work that takes a while."""

import io

import pytest

from correspondence._util.progress import StageLine, make_progress_bar, open_stages


@pytest.mark.parametrize(("progress", "is_silent"), [(True, False), (False, True), (None, True)])
def test_a_bar_is_shown_on_request_or_in_a_terminal(progress, is_silent, monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    with make_progress_bar(3, "folds", progress) as bar:
        bar.update(3)
    assert (written.getvalue() == "") == is_silent
    assert is_silent or "folds" in written.getvalue()


# --- stages


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.mark.parametrize(
    ("stream", "is_shown", "appears"),
    [(Terminal, None, True), (io.StringIO, None, False), (io.StringIO, True, True), (Terminal, False, False)],
)
def test_stages_are_shown_in_a_terminal_or_on_request(clock, stream, is_shown, appears):
    written = stream()
    line = StageLine(is_shown, written, clock)
    line.tell("fitting forest")
    clock.now = 3.0
    line.refresh()
    assert ("fitting forest" in written.getvalue()) == appears


def test_nothing_is_said_in_the_first_two_seconds(clock):
    written = Terminal()
    line = StageLine(None, written, clock)
    line.tell("reading")
    clock.now = 1.9
    line.refresh()
    assert written.getvalue() == ""


def test_what_is_left_is_estimated_by_what_is_done(clock):
    line = StageLine(True, io.StringIO(), clock)
    line.tell("trying forest", seconds=100)
    assert "100 s left" in line.format_line(0.0)
    with line.count("folds", 4) as count:
        clock.now = 10.0
        count.update()
        assert "folds 2 of 4" in line.format_line(10.0)
        assert "30 s left" in line.format_line(10.0)
    assert "folds" not in line.format_line(10.0)


def test_a_log_has_one_line_for_each_stage(clock):
    written = io.StringIO()
    line = StageLine(True, written, clock)
    for text in ("reading", "reading", "testing"):
        line.tell(text)
        clock.now += 5
        line.refresh()
    assert [text.split(":")[0] for text in written.getvalue().splitlines()] == ["reading", "testing"]


def test_the_line_is_cleared_when_the_work_is_done(clock):
    written = Terminal()
    with StageLine(None, written, clock) as line:
        line.tell("reading")
        clock.now = 5.0
        line.refresh()
    assert written.getvalue().endswith("\x1b[K")
    assert not line._thread.is_alive()


def test_the_owner_of_a_line_closes_it():
    with StageLine(False) as line, open_stages(line) as same:
        assert same is line
    with open_stages(False) as other:
        assert not other.is_shown


def test_a_bar_on_a_line_counts_there():
    line = StageLine(False)
    with make_progress_bar(3, "folds", line) as bar:
        bar.update()
        assert [(count.done, count.total) for count in line.counts] == [(1, 3)]
    assert not line.counts
