"""``reproduce all``: small studies of our own, so that stopping, going on and what is missing can be tried quickly."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure
from records import read_rows

from correspondence.app.cli import main
from correspondence.datasets import MissingDataError
from correspondence.studies import reproducing
from correspondence.studies.record import Record
from correspondence.studies.report import Exhibit, Line, Report
from correspondence.studies.reproducing import Study, reproduce_all
from correspondence.studies.runs import Settings

LINES = [Line("correlation 1", 0.8, 0.7, 0.65, 0.75), Line("seen", "never", held_out=3)]


class Small:
    """A study that counts its runs and raises its error, if it has one."""

    def __init__(self, name):
        self.name, self.runs, self.error, self.others = name, 0, None, {}

    def __call__(self, settings):
        self.runs += 1
        if self.error is not None:
            raise self.error
        exhibit = Exhibit(f"Table of {self.name}", LINES, "A sentence, with ~ and |.", "")
        return Report([{"a": 1}], ["Text."], {"": Figure()}, self.others, [exhibit])


@pytest.fixture
def three(monkeypatch):
    small = {name: Small(name) for name in ("one", "two", "three")}
    monkeypatch.setattr(reproducing, "STUDIES", {name: Study(f"Title of {name}", run) for name, run in small.items()})
    return small


def run_all(folder, **options):
    told = []
    return reproduce_all(folder, tell=told.append, **options), told


def test_page_and_table(tmp_path, three):
    outcome, told = run_all(tmp_path)
    assert [path.name for path in outcome.files] == ["index.md", "results.csv"]
    assert outcome.missing == outcome.failed == {}
    assert told[0] == "[1/3] one: Title of one"
    assert told[1].startswith("    done in ")
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    for name in three:
        assert f"## Table of {name}\n\nA sentence, with ~ and |." in text
        assert f"![Table of {name}]({name}/{name}.png)" in text
        assert f"]({name}/{name}.md), 10 seeds" in text
        assert (tmp_path / name / f"{name}.png").is_file()
    assert "| correlation 1 | 0.800 | 0.700 | 0.650 | 0.750 |" in text
    assert "| seen | never |  | 3 |  |" in text
    assert "```\ncorrespondence reproduce all\n```" in text
    rows = read_rows(tmp_path / "results.csv")
    assert len(rows) == 6
    assert rows[0]["held_out"] == "0.6500"
    assert {row["study"] for row in rows} == set(three)


def test_it_goes_on_where_it_was_stopped(tmp_path, three):
    three["two"].error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run_all(tmp_path)
    assert "Table of one" in (tmp_path / "index.md").read_text(encoding="utf-8"), "the page is there from the start"
    assert not (tmp_path / "two").exists()
    three["two"].error = None
    outcome, told = run_all(tmp_path)
    assert [each.runs for each in three.values()] == [1, 2, 1]
    assert told[1] == "    finished before"
    assert not outcome.failed
    assert "Table of three" in (tmp_path / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [{"seeds": 3}, {"quick": True}, {"again": True}])
def test_other_settings_are_run_again(tmp_path, three, options):
    run_all(tmp_path)
    run_all(tmp_path, **options)
    assert [each.runs for each in three.values()] == [2, 2, 2]


def test_the_page_keeps_what_is_finished_while_an_earlier_study_runs(tmp_path, three):
    run_all(tmp_path)
    (tmp_path / "two" / "two.json").unlink()
    three["two"].error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run_all(tmp_path)
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "Table of three" in text
    assert text.index("Table of one") < text.index("Table of three")


def test_a_run_that_is_stopped_while_it_writes_is_not_finished(tmp_path, three):
    run_all(tmp_path)
    three["one"].others = {".html": stop}
    with pytest.raises(KeyboardInterrupt):
        run_all(tmp_path, seeds=3)
    three["one"].others = {}
    run_all(tmp_path)
    assert [each.runs for each in three.values()] == [3, 1, 1], "its files were those of the run that was stopped"


def stop(path):
    raise KeyboardInterrupt


def test_the_page_has_the_command_that_made_it(tmp_path, three):
    run_all(tmp_path, seeds=3, quick=True)
    assert "```\ncorrespondence reproduce all --seeds 3 --quick\n```" in (tmp_path / "index.md").read_text()


def test_wrong_settings_are_no_failure_of_the_studies(tmp_path, three):
    with pytest.raises(ValueError, match="seeds must"):
        run_all(tmp_path / "new", seeds=0)
    assert not (tmp_path / "new").exists()


def test_a_page_without_results(tmp_path, three):
    for each in three.values():
        each.error = MissingDataError("Put the file\nthere.")
    run_all(tmp_path)
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "- `one`: Put the file there." in text
    assert text.endswith("```\ncorrespondence reproduce all\n```\n")


def test_a_quick_run_says_so(tmp_path, three):
    run_all(tmp_path, quick=True)
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "reproduce all --quick" in text
    assert "not to be quoted" in text


def test_missing_data_and_failures_do_not_stop_it(tmp_path, three, capsys):
    three["one"].error = MissingDataError("Put the file there.")
    three["two"].error = ZeroDivisionError("by zero")
    outcome, _ = run_all(tmp_path)
    assert outcome.missing == {"one": "Put the file there."}
    assert outcome.failed == {"two": "ZeroDivisionError: by zero"}
    assert "Traceback" in capsys.readouterr().err
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "- `one`: Put the file there." in text
    assert "- `two`: ZeroDivisionError: by zero" in text
    assert "Table of three" in text
    assert not (tmp_path / "one").exists()


def test_a_record_of_another_version_or_a_damaged_one_does_not_count(tmp_path, three):
    run_all(tmp_path)
    path = tmp_path / "one" / "one.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"correspondence": "', '"correspondence": "0.0'))
    (tmp_path / "two" / "two.json").write_text("{")
    run_all(tmp_path)
    assert [each.runs for each in three.values()] == [2, 2, 1]


@pytest.mark.parametrize("text", ["", "[]", "3", '{"exhibits": 3}', '{"exhibits": []}', '{"exhibits": [{"lines": 1}]}'])
def test_what_is_no_record(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    assert Record.read_json(tmp_path, "x") is None


def test_record_is_read_as_it_was_written(tmp_path):
    settings = Settings.from_options(3)
    record = Record.from_run("x", "Title ä", settings, 1.234, [Exhibit("Table", LINES, "Sentence.")])
    assert json.loads(record.write_json(tmp_path).read_text(encoding="utf-8"))["title"] == "Title ä"
    assert Record.read_json(tmp_path, "x") == record
    assert record.is_of(settings)
    assert not record.is_of(replace(settings, quick=True))


def invoke(*arguments):
    return CliRunner().invoke(main, ["reproduce", *map(str, arguments)])


def test_command(tmp_path, three):
    three["one"].error = ImportError("one needs torch.")
    result = invoke("all", "-o", tmp_path / "new")
    assert result.exit_code == 0, result.output
    assert f"Page:  {(tmp_path / 'new' / 'index.md').resolve()}" in result.output
    assert "Not run, for want of data or packages: one." in result.output


def test_command_fails_if_a_study_failed(tmp_path, three):
    three["three"].error = RuntimeError("worn out")
    result = invoke("all", "-o", tmp_path)
    assert result.exit_code == 1
    assert "Error: three failed" in result.output


def set_clock(monkeypatch, monotonic):
    """Replace the clock of the module alone: threads of other libraries read that of `time` too."""
    clock = SimpleNamespace(monotonic=monotonic, perf_counter=time.perf_counter)
    monkeypatch.setattr(reproducing, "time", clock)


def test_no_study_is_begun_after_the_time_limit(tmp_path, three, monkeypatch):
    clock = iter([0.0, 1.0, 20.0, 30.0])  # the beginning, and before each study
    set_clock(monkeypatch, lambda: next(clock))
    outcome, told = run_all(tmp_path, time_limit=10)
    assert outcome.skipped == ("two", "three")
    assert [three[name].runs for name in three] == [1, 0, 0]
    assert sum("time limit" in line for line in told) == 2
    assert "time limit" in (tmp_path / "index.md").read_text(encoding="utf-8")


def test_a_study_that_took_longer_than_what_is_left_is_not_begun(tmp_path, three, monkeypatch):
    run_all(tmp_path)
    record = Record.read_json(tmp_path / "two", "two")
    replace(record, seconds=100.0).write_json(tmp_path / "two")
    set_clock(monkeypatch, lambda: 0.0)
    assert run_all(tmp_path, again=True, time_limit=50)[0].skipped == ("two",)


def test_a_time_limit_goes_with_all():
    result = invoke("bsc", "--time-limit", 5)
    assert result.exit_code == 2
    assert "--time-limit goes with all" in result.output


def test_again_goes_with_all():
    result = invoke("bsc", "--again")
    assert result.exit_code == 2
    assert "--again goes with all" in result.output
