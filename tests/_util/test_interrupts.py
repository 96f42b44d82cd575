"""Interrupts of work that takes too long. No test asserts seconds."""

import importlib
import sys
import threading
import time

import pytest

from correspondence._util import interrupts
from correspondence._util.interrupts import OutOfTimeError, interrupt_after


def run_forever():
    while True:
        time.sleep(0.01)


def test_a_block_without_end_is_ended():
    with pytest.raises(OutOfTimeError), interrupt_after(0.05):
        run_forever()


def test_a_block_that_has_no_time_is_not_begun():
    with pytest.raises(OutOfTimeError), interrupt_after(0):
        raise AssertionError


def test_what_ends_in_time_is_left_alone():
    n_threads = threading.active_count()
    with interrupt_after(1e12):
        result = 1
    assert result == 1
    assert threading.active_count() == n_threads


def test_errors_of_the_block_pass():
    with pytest.raises(ZeroDivisionError), interrupt_after(1e3):
        1 / 0  # noqa: B018


def test_handlers_of_other_packages_do_not_catch_it():
    def swallow():
        while True:
            try:
                run_forever()
            except Exception:
                continue

    with pytest.raises(OutOfTimeError), interrupt_after(0.05):
        swallow()


def test_an_interrupt_that_is_dropped_comes_again(monkeypatch):
    monkeypatch.setattr(interrupts, "REPEAT_SECONDS", 0.05)
    caught = []

    def drop_first():
        try:
            run_forever()
        except OutOfTimeError as error:
            caught.append(error)
        run_forever()

    with pytest.raises(OutOfTimeError), interrupt_after(0.05):
        drop_first()
    assert caught


def test_imports_are_not_interrupted(tmp_path, monkeypatch):
    """The import lasts longer than the time, and ends before the interrupt."""
    (tmp_path / "slow_to_import.py").write_text("import time\nfor _ in range(30): time.sleep(0.01)\ndone = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def import_and_go_on():
        importlib.import_module("slow_to_import")
        run_forever()

    with pytest.raises(OutOfTimeError), interrupt_after(0.05):
        import_and_go_on()
    assert sys.modules["slow_to_import"].done


def test_other_threads_are_interrupted_alone():
    ended = []

    def work():
        try:
            with interrupt_after(0.05):
                run_forever()
        except OutOfTimeError:
            ended.append("work")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == ["work"]
