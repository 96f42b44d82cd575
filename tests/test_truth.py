"""The page of promises: problems with known truth, verdicts, runs that go on, and one small run of each promise."""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import truth
from promises import coverage, designs, errors, exact, level, peers, power, speed, tables
from promises.ledger import Ledger, Task, dump_code, list_missing, make_rng
from promises.verdicts import (
    MET,
    MISSED,
    SHOWN,
    WITHIN_ERROR,
    Bar,
    Promise,
    Results,
    judge_shares,
    share_interval,
    show_number,
)

ROOT = Path(__file__).parents[1]
NAME = "power"  # any of the names that --only knows


def make_promise(measure, bar=None, replications=50):
    return Promise(
        NAME,
        "A fake.",
        lambda: [Task(NAME, "a design", "a method", measure, replications, 2)],
        lambda results: judge_shares(results, lambda *_: bar or Bar(0.7)),
    )


def run(tmp_path, promise, *arguments):
    truth.main(["--output", str(tmp_path), *arguments], [promise])
    return json.loads((tmp_path / "promises.json").read_text())["lines"]


# --- the truth


def test_correlations_of_a_density_on_a_grid():
    grid = np.linspace(-6, 6, 401)
    joint = norm.pdf(grid)[:, None] * norm.pdf(grid, 0.6 * grid[:, None], 0.8)
    assert exact.decompose_joint(joint, 4) == pytest.approx(0.6 ** np.arange(1, 5), abs=1e-4)


def test_beta_binomial_in_closed_form():
    x = np.linspace(0.0005, 0.9995, 2000)
    joint = beta.pdf(x, 2, 3)[:, None] * binom.pmf(np.arange(21), 20, x[:, None])
    assert exact.make_beta_binomial().correlations == pytest.approx(exact.decompose_joint(joint), abs=1e-5)


def test_products_of_canonical_correlations():
    assert exact.multiply_powers((0.8, 0.5))[:5] == pytest.approx([0.8, 0.64, 0.512, 0.5, 0.4096])


@pytest.mark.parametrize("name", exact.MAKERS)
def test_exact_problems(name):
    case = exact.find_case(name)
    assert (np.diff(case.problem.correlations) <= 1e-12).all()
    assert 0 < case.problem.correlations[case.d - 1] < 1
    first, again = (case.draw(20, np.random.default_rng(1)) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_correlation_of_the_checkerboard_and_of_xor():
    x, y = exact.make_checkerboard().draw(100_000, np.random.default_rng(0))
    f, g = (np.floor(4 * values) % 2 for values in (x, y))
    assert np.corrcoef(f, g)[0, 1] == pytest.approx(0.8, abs=0.01)
    X, y = exact.make_xor().draw(100_000, np.random.default_rng(0))
    assert np.corrcoef(X.prod(axis=1) > 0, y == "same")[0, 1] == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("kind", ["Zipf labels", "class labels", "rare binary"])
def test_hidden_classes_have_one_component_less(kind):
    x, y = designs.draw_classes(kind, 200_000, 1, np.random.default_rng(0))
    x, y = (np.unique(values, return_inverse=True)[1] for values in (x, y))
    joint = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(joint, (x, y), 1)
    values = exact.decompose_joint(joint)
    assert values[0] > 0.2
    assert (values[1:] < 0.03).all()


def test_bartlett_counts_canonical_correlations():
    X, Y = designs.draw_canonical((0.8, 0.5), 5, 1000, np.random.default_rng(0))
    assert peers.count_by_bartlett(X, Y) == 2
    assert peers.canonical_correlations(X, Y)[:2] == pytest.approx([0.8, 0.5], abs=0.06)


def test_captured_is_that_of_the_library():
    import correspondence as co

    x, y = coverage.DESIGNS["Gaussian, ACE(2)"].draw(2000, np.random.default_rng(0))
    model = co.CCA(n_components=1).fit(x, y)
    F, G = model.transform(x, y)
    assert errors.measure_captured(F, G, model.correlations_) == pytest.approx(model.pics_.sum(), abs=1e-9)


def test_a_missing_component_counts_as_zero():
    assert errors.mean_error(np.array([0.5]), np.array([0.6, 0.3])) == pytest.approx(0.2)


def test_labels_that_the_fit_has_not_seen_count_as_average():
    values = errors.apply_to_known(lambda x: np.ones((len(x), 2)), np.array(["a"]), np.array(["a", "b"]))
    assert values.tolist() == [[1, 1], [0, 0]]


# --- verdicts


def test_verdicts():
    bar = Bar(0.02, 0.07)
    assert bar.judge(0.01, 0.05, 0.09) == MET
    assert bar.judge(0.06, 0.08, 0.1) == WITHIN_ERROR
    assert bar.judge(0.08, 0.1, 0.12) == MISSED
    assert bar.judge(0.0, 0.0, 0.01) == MISSED
    assert (str(bar), str(Bar(0.7))) == (".02-.07", ">= .70")


def test_interval_of_a_share_is_exact():
    assert share_interval(np.zeros(100)) == pytest.approx((0, 1 - 0.025**0.01), abs=1e-6)
    low, high = share_interval(np.array([0.8, 0.9, 1.0, 0.9]))
    assert low < 0.9 < high


@pytest.mark.parametrize(
    ("value", "text"), [(0.05, ".05"), (0.052, ".052"), (-0.02, "-.02"), (1.0, "1.00"), (23.4, "23"), (0.9996, "1.000")]
)
def test_numbers(value, text):
    assert show_number(value) == text


@pytest.mark.slow
def test_a_broken_promise_is_missed(tmp_path):
    (line,) = run(tmp_path, make_promise(lambda seed: {"found": seed % 10 == 0}))
    assert (line["verdict"], line["value"], line["n"]) == (MISSED, 0.1, 50)
    page = (tmp_path / "promises.md").read_text()
    assert "**missed**" in page
    assert re.search(r"Missed:\n\n- .*, a design, a method: found \.10 ", page)
    (line,) = run(tmp_path / "kept", make_promise(lambda seed: {"found": seed % 10 > 0}))
    assert line["verdict"] == MET
    assert "No line is missed." in (tmp_path / "kept" / "promises.md").read_text()


@pytest.mark.slow
def test_an_error_is_missed_and_tried_again(tmp_path):
    def fail(seed):
        raise ValueError("no answer")

    def fail_once(seed):
        return fail(seed) if seed == 1 else {"found": 1}

    (line,) = run(tmp_path, make_promise(fail), "--replications", "3")
    assert (line["verdict"], line["errors"]) == (MISSED, 3)
    (line,) = run(tmp_path, make_promise(fail_once), "--replications", "3")
    assert (line["verdict"], line["errors"], line["n"]) == (MISSED, 1, 2)
    (line,) = run(tmp_path, make_promise(lambda seed: {"found": 1}), "--replications", "3")
    assert (line["verdict"], line["errors"], line["n"]) == (MET, 0, 3)


@pytest.mark.slow
def test_strict_runs_end_with_an_exit_code(tmp_path):
    promise = make_promise(lambda seed: {"found": 0})
    assert truth.main(["--output", str(tmp_path)], [promise]) == 0
    assert truth.main(["--output", str(tmp_path), "--strict"], [promise]) == 1


# --- runs that go on


@pytest.mark.slow
def test_a_stopped_run_goes_on(tmp_path):
    seeds = []

    def measure(seed):
        if len(seeds) == 3:
            raise KeyboardInterrupt
        seeds.append(seed)
        return {"found": 1}

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, make_promise(measure), "--replications", "5")
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"promise": "power", "des')  # cut off while it was written
    more = []
    (line,) = run(tmp_path, make_promise(lambda seed: more.append(seed) or {"found": 1}), "--replications", "5")
    assert (seeds, more, line["n"]) == ([0, 1, 2], [3, 4], 5)
    run(tmp_path, make_promise(lambda seed: more.append(seed) or {"found": 1}), "--replications", "5")
    assert more == [3, 4]


@pytest.mark.slow
def test_other_seeds_are_other_data_sets(tmp_path):
    (line,) = run(tmp_path, make_promise(lambda seed: {"found": seed >= 100}), "--replications", "2", "--seeds", "100")
    assert line["value"] == 1


@pytest.mark.slow
def test_quick_runs(tmp_path):
    (line,) = run(tmp_path, make_promise(lambda seed: {"found": 1}), "--quick")
    assert line["n"] == 2


@pytest.mark.slow
def test_records_of_other_code_are_measured_again(tmp_path):
    record = {"promise": NAME, "design": "a design", "method": "a method", "seed": 0, "figures": {"found": 0.0}}
    record |= {"seconds": 1.0, "load": 0.0, "code": "another"}
    (tmp_path / "records.jsonl").write_text(json.dumps(record) + "\n")
    promise = make_promise(lambda seed: {"found": 1})
    (line,) = run(tmp_path, promise, "--replications", "1", "--any-code")
    assert line["value"] == 0
    (line,) = run(tmp_path, promise, "--replications", "1")
    assert line["value"] == 1


def test_comments_and_docstrings_are_not_code():
    plain = "def f():\n    return 1\n"
    assert dump_code('"""Text."""\n# why\ndef f():\n    """Text."""\n    return 1\n') == dump_code(plain)
    assert dump_code(plain) != dump_code(plain.replace("1", "2"))


def test_first_seeds_come_first(tmp_path):
    tasks = [Task(NAME, "a design", method, dict, 2) for method in ("one", "other")]
    missing = list_missing(Ledger(tmp_path / "none"), {tasks[0]: 2, tasks[1]: 1}, 5)
    assert [(task.method, seed) for task, seed in missing] == [("one", 5), ("other", 5), ("one", 6)]


def test_every_method_of_a_design_gets_the_same_data():
    assert make_rng("a", 1).random() == make_rng("a", 1).random() != make_rng("a", 2).random()


@pytest.mark.slow
def test_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n\n{tables.BEGIN}\nold\n{tables.END}\n\nAfter.\n")
    run(tmp_path, make_promise(lambda seed: {"found": 1}), "--replications", "2", "--page", str(page))
    text = page.read_text()
    assert text.startswith("Before.")
    assert text.endswith("After.\n")
    assert "| a design | a method | found | 1.00 [.158, 1.00] | 2 |" in text
    assert "old" not in text
    with pytest.raises(ValueError, match="page must"):
        tables.put_into_page(tmp_path / "promises.md", "")


# --- one small run of each promise


def measure_first(promise, design, method, tmp_path, *more):
    truth.main(["--only", promise, "--design", design, "--method", method, "--output", str(tmp_path), *more])
    lines = json.loads((tmp_path / "promises.json").read_text())["lines"]
    assert lines
    assert not any(line["errors"] for line in lines)
    return lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("promise", "design", "method"),
    [
        ("level", "normal, n 60, 0", "decompose"),
        ("level", "normal, n 60, 0", "analyze"),
        ("level", "normal, n 60, 0", "hyppo"),
        ("level", "class labels, n 200, 2", "latent"),
        ("level", "Zipf labels, n 60", "chi2"),
        ("power", "correlation", "ACE"),
        ("power", "one of ten", "Pearson"),
        ("components", ".6 .3", "latent"),
        ("errors", "Gaussian .9, n 500", "ace"),
        ("errors", "Zipf labels", "ca"),
        ("coverage", "Gaussian, ACE", "HeldOut"),
        ("coverage", "rare labels", "CrossFit"),
        ("coverage", "equal", "pic"),
        ("coverage", "smoke", "boot"),
    ],
)
def test_promises(promise, design, method, tmp_path):
    if method == "hyppo":
        pytest.importorskip("hyppo")
    lines = measure_first(promise, design, method, tmp_path, "--replications", "1")
    assert {line["promise"] for line in lines} == {promise}
    assert all(line["verdict"] in (MET, WITHIN_ERROR, MISSED, SHOWN) for line in lines)
    records = (tmp_path / "records.jsonl").read_text()
    measure_first(promise, design, method, tmp_path, "--replications", "1")
    assert (tmp_path / "records.jsonl").read_text() == records


@pytest.mark.slow
def test_measurements_are_the_same_again():
    for measure in (
        partial(level.measure_permutation_test, "t2", 60, 0),
        partial(power.measure, power.reject_by_latent_dimension, "correlation .15"),
        partial(coverage.measure_held_out, "cos(2x), ACE(1)"),
    ):
        assert measure(3) == measure(3)


def judge_speed(seconds, fit, baseline):
    record = {"figures": {"seconds": seconds, "seconds of the winner's fit": fit}, "load": 1.0}
    return speed.judge(Results("speed", {("mixture", "decompose"): [record]}, {"seconds": baseline}))


def test_speed_against_the_winner_and_a_baseline():
    verdicts = [line.verdict for line in judge_speed(6.0, 0.5, {"mixture": 20.0})]
    assert verdicts == [MET, SHOWN, MET]
    verdicts = [line.verdict for line in judge_speed(8.0, 0.5, {"mixture": 20.0})]
    assert verdicts == [MISSED, SHOWN, MISSED]
    assert len(judge_speed(8.0, 0.5, {})) == 2


def judge_errors(ours, captured, best):
    records = {
        ("a problem", errors.GIVEN): [{"figures": {"error": ours, "captured": captured}, "load": 1.0}],
        ("a problem", "ace"): [{"figures": {"error": best, "captured": 0.5}, "load": 1.0}],
        ("a problem", "cca"): [{"figures": {"error": 1.0, "captured": 0.5}, "load": 1.0}],
    }
    return [line.verdict for line in errors.judge(Results("errors", records))[:2]]


def test_errors_against_the_best_method():
    assert judge_errors(0.026, 0.1, 0.02) == [MET, MET]
    assert judge_errors(0.027, -0.03, 0.02) == [MISSED, MISSED]


def test_a_low_level_is_no_fault_where_the_test_is_not_reached():
    def judge(found):
        record = {"figures": {"too many": 0.0, "all found": found}, "load": 1.0}
        return level.judge(Results("level", {("a design", "decompose"): [record] * 400}))[0].verdict

    assert judge(1.0) == MISSED
    assert judge(0.0) == MET


def test_a_warning_counts_where_tails_are_heavy():
    def judge(design, warned):
        record = {"figures": {"intervals": 0.0, "warned": warned}, "load": 1.0}
        return coverage.judge(Results("coverage", {(design, "HeldOut"): [record] * 50}))[0].verdict

    assert judge("t3, CCA(1)", 1.0) == MET
    assert judge("t3, CCA(1)", 0.0) == MISSED
    assert judge("Gaussian, ACE(2)", 1.0) == MISSED


@pytest.mark.slow
def test_from_the_command_line(tmp_path):
    command = [sys.executable, ROOT / "benchmarks" / "truth.py", "--only", "level", "--design", "Zipf labels, n 60"]
    command += ["--method", "chi2", "--replications", "4", "--jobs", "2", "--output", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "level: " in done.stdout
    assert "[" in done.stdout
    assert len((tmp_path / "records.jsonl").read_text().splitlines()) == 4
