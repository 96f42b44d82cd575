"""What goes with what, beside phik and dython: time, power, level, false discoveries, and 20 M rows in Parquet.

    python benchmarks/associations.py                        # all but the large file, about an hour because of dython
    python benchmarks/associations.py --only speed           # 20 mixed columns x 100,000 rows beside phik
    python benchmarks/associations.py --only wide            # 1,700 columns x 300 rows beside dython
    python benchmarks/associations.py --only power           # beside phik's significance, at equal level
    python benchmarks/associations.py --only level           # false discoveries on independent columns
    python benchmarks/associations.py --only given           # level, power and time with other columns given
    python benchmarks/associations.py --only scale           # 20 M rows x 30 columns in Parquet, memory limited to 4 GB

dython compares the columns of a subset of the 1,700; its time for all is that of a pair times their number, since it
compares one pair after the other. Power is the share of data sets with a p-value below the 5 % quantile of those of
independent columns, the same for both, so that no test gains by a level that is too high.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import argparse
import resource
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import correspondence as co

ALPHA = 0.05
COLUMNS_FOR_DYTHON = 40


def make_mixed(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw ten columns of numbers and ten of labels, with a variable in common."""
    hidden = rng.normal(size=n)
    columns = {}
    for i in range(10):
        columns[f"number {i}"] = hidden * rng.uniform(-1, 1) + rng.normal(size=n)
    for i in range(10):
        k = int(rng.integers(2, 12))
        place = (hidden * rng.uniform(-1, 1) + rng.normal(size=n)) * k / 4 + k / 2
        columns[f"label {i}"] = np.array([f"v{j}" for j in range(k)], dtype=object)[place.astype(int).clip(0, k - 1)]
    return pd.DataFrame(columns)


def measure(function) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def compare_speed() -> None:
    import phik  # noqa: F401 - adds methods to frames

    frame = make_mixed(100_000, np.random.default_rng(0))
    numbers = [name for name in frame if name.startswith("number")]
    own = min(measure(lambda: co.associations(frame)) for _ in range(3))
    theirs = measure(lambda: frame.phik_matrix(interval_cols=numbers, verbose=False))
    print(f"20 mixed columns x 100,000 rows: {own:.2f} s, phik_matrix {theirs:.2f} s ({theirs / own:.1f} x)")
    pairs = measure(lambda: frame.iloc[:, [0, 1, 10, 11]].significance_matrix(interval_cols=numbers[:2], verbose=False))
    print(f"phik's significance of 10 pairs: {pairs:.1f} s, of all 210 about {21 * pairs:.0f} s")


def compare_wide() -> None:
    from dython.nominal import associations

    rng = np.random.default_rng(0)
    n, k = 300, 1700
    wide = {"numbers": pd.DataFrame(rng.normal(size=(n, k)), columns=[f"x{i}" for i in range(k)])}
    wide["labels"] = pd.DataFrame({f"x{i}": rng.choice(list("abcd"), n) for i in range(k)})
    half = pd.concat([wide["numbers"].iloc[:, : k // 2], wide["labels"].iloc[:, k // 2 :]], axis=1)
    for name, frame in {**wide, "half of each": half}.items():
        own = measure(lambda frame=frame: co.associations(frame))
        some = frame.iloc[:, np.linspace(0, k - 1, COLUMNS_FOR_DYTHON).astype(int)]
        part = measure(lambda some=some: associations(some, compute_only=True))
        theirs = part * k * (k - 1) / (COLUMNS_FOR_DYTHON * (COLUMNS_FOR_DYTHON - 1))
        print(
            f"1,700 columns of {name} x 300 rows: {own:.1f} s, dython about {theirs:.0f} s "
            f"({part:.1f} s for {COLUMNS_FOR_DYTHON} columns; {own / theirs:.4f} of it)",
            flush=True,
        )


# --- power at equal level


def _draw_labels(x, strength, k, rng):
    shift = np.where(rng.random(len(x)) < strength, x, rng.integers(k, size=len(x)))
    return np.array(list("abcdefgh"), dtype=object)[shift]


def draw_pair(kind: str, n: int, rng: np.random.Generator):
    """Draw two columns that depend on each other."""
    x, noise = rng.normal(size=n), rng.normal(size=n)
    labels = rng.integers(4, size=n)
    names = np.array(list("ABCD"), dtype=object)
    return {
        "cos(2x)": lambda: (x, np.cos(2 * x) + 1.2 * noise),
        "x^2": lambda: (x, x**2 + 4 * noise),
        "|x|, heavy tails": lambda: (x, np.abs(x) + 0.8 * rng.standard_t(2, size=n)),
        "circle": lambda: (np.cos(3 * x) + 0.5 * noise, np.sin(3 * x) + 0.5 * rng.normal(size=n)),
        "spread": lambda: (x, np.exp(0.4 * x) * noise),
        "linear": lambda: (x, 0.25 * x + noise),
        "step": lambda: (x, 0.6 * (x > 0.8) + noise),
        "labels": lambda: (names[labels], _draw_labels(labels, 0.18, 4, rng)),
        "label and number": lambda: (names[labels], np.array([0, 0.5, 0, -0.3])[labels] + noise),
        "label and spread": lambda: (names[labels], np.array([1, 1.6, 1, 0.7])[labels] * noise),
    }[kind]()


KINDS = (
    "cos(2x)", "x^2", "|x|, heavy tails", "circle", "spread", "linear", "step", "labels", "label and number",
    "label and spread",
)  # fmt: skip


def test_phik(x, y) -> float:
    from phik.significance import significance_from_array

    frame = pd.DataFrame({"x": x, "y": y})
    numbers = [name for name, values in (("x", x), ("y", y)) if values.dtype != object]  # in ten bins of equal width
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(
            significance_from_array(
                frame["x"], frame["y"], num_vars=numbers, significance_method="asymptotic", njobs=1
            )[0]
        )


def test_own(x, y) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(co.associations(pd.DataFrame({"x": x, "y": y})).raw_pvalues[0, 1])


def compare_power(data_sets: int, n: int) -> None:
    print(f"power at 5 % with {n} rows, {data_sets} data sets each; (level of our p-values, of phik's)")
    for kind in KINDS:
        rng = np.random.default_rng(0)
        own, theirs, own_null, their_null = [], [], [], []
        for _ in range(data_sets):
            x, y = draw_pair(kind, n, rng)
            free = rng.permutation(y)
            own.append(test_own(x, y))
            own_null.append(test_own(x, free))
            theirs.append(test_phik(x, y))
            their_null.append(test_phik(x, free))
        limits = np.quantile(own_null, ALPHA), np.quantile(their_null, ALPHA)
        power = np.mean(np.array(own) <= limits[0]), np.mean(np.array(theirs) <= limits[1])
        level = np.mean(np.array(own_null) <= ALPHA), np.mean(np.array(their_null) <= ALPHA)
        print(f"  {kind:<18} {power[0]:.3f}, phik {power[1]:.3f} ({level[0]:.3f}, {level[1]:.3f})", flush=True)


# --- level


def draw_independent(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw independent columns of mixed kinds: ties, heavy tails, rare answers, gaps."""
    labels = np.array(list("abcdefghij"), dtype=object)
    columns = {
        "normal": rng.normal(size=n),
        "heavy": rng.standard_cauchy(size=n),
        "zeros": np.where(rng.random(n) < 0.7, 0, rng.exponential(size=n)),
        "ties": rng.integers(6, size=n).astype(float),
        "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(size=n)),
        "yes 5 %": np.where(rng.random(n) < 0.05, "yes", "no").astype(object),
        "yes 1 %": np.where(rng.random(n) < 0.01, "yes", "no").astype(object),
        "also 5 %": np.where(rng.random(n) < 0.05, "yes", "no").astype(object),
        "rare": labels[rng.choice(6, n, p=[0.7, 0.14, 0.06, 0.04, 0.03, 0.03])],
        "many": labels[rng.choice(10, n, p=np.arange(1, 11) / 55)],
        "three": labels[rng.integers(3, size=n)],
        "days": np.datetime64("2024-01-01") + rng.integers(365, size=n).astype("m8[D]"),
    }
    return pd.DataFrame(columns)


def measure_level(data_sets: int, sizes: list[int]) -> None:
    print(f"independent columns of mixed kinds, {data_sets} tables of 12 columns each")
    for n in sizes:
        rng = np.random.default_rng(n)
        raw, found = [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(data_sets):
                a = co.associations(draw_independent(n, rng))
                raw.append(a.raw_pvalues[np.triu_indices(len(a), 1)])
                found.append(bool(a.found.any()))
        p = np.concatenate(raw)
        shares = ", ".join(f"{np.mean(p <= level) / level:.2f} at {level:g}" for level in (0.05, 0.01, 0.001, 0.0001))
        print(
            f"  {n:>5} rows: false discovery rate {np.mean(found):.3f}; p-values below a level, times it: {shares}",
            flush=True,
        )


# --- once others are given

CAUSES = ("linear", "quadratic", "five", "product", "label", "spread", "none")
GIVEN_SIZES = (200, 1000)
RARE_COLUMNS = ("yes 5 %", "also 5 %", "rare")


def draw_cause(kind: str, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw what is given, and what it adds to other columns."""
    z = rng.normal(size=n)
    if kind == "quadratic":
        return pd.DataFrame({"z": z}), (z**2 - 1) / np.sqrt(2)
    if kind in ("five", "product"):
        five = rng.normal(size=(n, 5))
        product = five[:, 0] * five[:, 1] if kind == "product" else 0.0
        return pd.DataFrame(five, columns=list("abcde")), five.sum(axis=1) / np.sqrt(5) + product
    if kind == "label":
        code = rng.choice(6, n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
        return pd.DataFrame({"z": np.array(list("uvwxyz"), dtype=object)[code]}), np.array([-1.0, 0, 1, 2, -0.5, -2])[
            code
        ]
    return pd.DataFrame({"z": z}), {"linear": z, "spread": 0.3 * z, "none": 0 * z}[kind]


def cut_shares(values: np.ndarray, shares: list[float], labels: str) -> np.ndarray:
    """Cut numbers into labels of given shares."""
    edges = np.quantile(values, np.cumsum(shares)[:-1])
    return np.array(list(labels), dtype=object)[np.searchsorted(edges, values)]


def draw_given(kind: str, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw columns of mixed kinds that are independent once a common cause is given, and the cause."""
    given, cause = draw_cause(kind, n, rng)
    spread = np.exp(0.7 * given["z"].to_numpy()) if kind == "spread" else 1.0

    def follow(strength: float) -> np.ndarray:
        return strength * cause + spread * rng.normal(size=n)

    columns = {
        "number": follow(1),
        "weak": follow(0.5),
        "strong": follow(2.5),
        "skewed": np.exp(follow(1)),
        "count": np.rint(2 * np.abs(follow(1))),
        "yes 40 %": cut_shares(follow(1), [0.6, 0.4], "ny"),
        "yes 5 %": cut_shares(follow(1), [0.95, 0.05], "ny"),
        "also 5 %": cut_shares(follow(1), [0.95, 0.05], "ny"),
        "three": cut_shares(follow(1), [0.3, 0.5, 0.2], "abc"),
        "rare": cut_shares(follow(1), [0.6, 0.2, 0.1, 0.05, 0.05], "abcde"),
    }
    return pd.DataFrame(columns), given


def measure_given_level(data_sets: int, causes: Sequence[str]) -> None:
    """Count small p-values of columns that are independent once a common cause is given."""
    print(f"ten columns that are independent given z, {data_sets} tables each; p-values up to .05 (up to .01)")
    print("  cause         rows  all pairs      pairs of rare answers  without given  any false discovery")
    for kind in causes:
        for n in GIVEN_SIZES:
            rng, found, rare, naive, any_found = np.random.default_rng(n), [], [], [], []
            for _ in range(data_sets):
                frame, given = draw_given(kind, n, rng)
                a, b = (co.associations(frame, groups=None, given=own) for own in (given, None))
                upper = np.triu_indices(len(a), 1)
                is_rare = np.isin(a.columns, RARE_COLUMNS)
                found.append(a.raw_pvalues[upper])
                rare.append(a.raw_pvalues[upper][np.outer(is_rare, is_rare)[upper]])
                naive.append(np.mean(b.raw_pvalues[np.triu_indices(len(b), 1)] <= ALPHA))
                any_found.append(a.found.any())
            p, q = np.concatenate(found), np.concatenate(rare)
            print(
                f"  {kind:<12} {n:>5}  {np.mean(p <= 0.05):.3f} ({np.mean(p <= 0.01):.3f})  {np.mean(q <= 0.05):.3f} "
                f"({np.mean(q <= 0.01):.3f})          {np.mean(naive):.3f}          {np.mean(any_found):.3f}",
                flush=True,
            )


def correlate_residuals(x: np.ndarray, y: np.ndarray, given: pd.DataFrame) -> float:
    """Return the p-value of the partial correlation, with numbers as straight lines."""
    Z = np.column_stack([np.ones(len(x)), pd.get_dummies(given, drop_first=True).to_numpy(dtype=float)])
    left = [v - Z @ np.linalg.lstsq(Z, v, rcond=None)[0] for v in (x, y)]
    r, freedom = np.corrcoef(left)[0, 1], len(x) - Z.shape[1] - 1
    return float(2 * stats.t.sf(abs(r) * np.sqrt(freedom / (1 - r**2)), freedom))


def compare_given_power(data_sets: int, n: int) -> None:
    """Compare the power of the p-values with that of partial correlations, each at its own 5 % quantile."""
    effects = {
        "linear": lambda e: 0.25 * e,
        "square": lambda e: 0.35 * (e**2 - 1),
        "sign": lambda e: 0.3 * np.sign(e),
    }
    print(f"power at 5 % given z, {n} rows, {data_sets} data sets each")
    for kind in ("linear", "quadratic", "five", "label"):
        for name, effect in effects.items():
            rng, own, other = np.random.default_rng(0), ([], []), ([], [])
            for _ in range(data_sets):
                given, cause = draw_cause(kind, n, rng)
                e, noise = rng.normal(size=(2, n))
                for k, extra in enumerate((effect(e), np.zeros(n))):
                    x, y = cause + e, cause + extra + noise
                    frame = pd.DataFrame({"x": x, "y": y})
                    own[k].append(co.associations(frame, groups=None, given=given).raw_pvalues[0, 1])
                    other[k].append(correlate_residuals(x, y, given))
            power = [np.mean(np.array(a) <= np.quantile(b, ALPHA)) for a, b in (own, other)]
            print(f"  cause {kind:<10} {name:<7} {power[0]:.3f}, partial correlation {power[1]:.3f}", flush=True)


def measure_cpu(function) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def compare_given_speed() -> None:
    """Measure how long it takes, beside the same table with nothing given, in CPU seconds."""
    frame = make_mixed(20_000, np.random.default_rng(0))
    co.associations(frame[:200], given="number 0")
    plain = measure_cpu(lambda: co.associations(frame, groups=None))
    print(f"20 mixed columns x 20,000 rows: {plain:.2f} CPU seconds")
    for given in (["number 0"], ["number 0", "number 1", "label 0"]):
        own = measure_cpu(lambda given=given: co.associations(frame, groups=None, given=given))
        print(f"  {len(given)} given: {own:.2f} CPU seconds, {own / plain:.1f} times", flush=True)


# --- a large file


def write_large(path: Path, n: int, rng: np.random.Generator) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    step, writer = 1_000_000, None
    labels = np.array([f"v{j}" for j in range(12)])
    for _ in range(0, n, step):
        hidden = rng.normal(size=step)
        columns = {f"n{i}": hidden * (i % 4) / 4 + rng.normal(size=step) for i in range(15)}
        for i in range(15):
            k = 2 + i % 10
            place = ((hidden * (i % 3) / 2 + rng.normal(size=step)) * k / 4 + k / 2).astype(int).clip(0, k - 1)
            columns[f"c{i}"] = pa.DictionaryArray.from_arrays(place.astype(np.int32), labels[:k]).cast(pa.string())
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def measure_scale(n: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        write_large(path, n, np.random.default_rng(0))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        cpu = time.process_time()
        seconds = measure(lambda: print(co.associations(str(path))))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{n:,} rows x 30 columns in Parquet: {seconds:.0f} s ({time.process_time() - cpu:.0f} CPU seconds), "
            f"at most {after:.2f} GB ({before:.2f} GB to write the file)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["speed", "wide", "power", "level", "given", "scale"])
    parser.add_argument("--causes", nargs="+", choices=CAUSES, default=CAUSES, help="causes of --only given")
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--rows", type=int, default=20_000_000)
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}")
    if options.only in (None, "speed"):
        compare_speed()
    if options.only in (None, "power"):
        for n in (60, 200):
            compare_power(options.data_sets, n)
    if options.only in (None, "level"):
        measure_level(options.data_sets, [50, 200, 1000, 5000])
    if options.only in (None, "given"):
        with warnings.catch_warnings(action="ignore"):
            measure_given_level(options.data_sets, options.causes)
            if options.causes == CAUSES:
                compare_given_power(options.data_sets, 200)
                compare_given_speed()
    if options.only in (None, "wide"):
        compare_wide()
    if options.only == "scale":
        measure_scale(options.rows)
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
