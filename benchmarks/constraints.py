"""Constrained correspondence analysis: how fast are its tests, and do they hold their level?

    python benchmarks/constraints.py                                # everything, about an hour
    python benchmarks/constraints.py --only smooth --tables 100     # about ten minutes
    python benchmarks/constraints.py --only speed                   # about a minute; beside R's vegan if Rscript has it
    python benchmarks/constraints.py --only level --tables 1000     # about half an hour
    python benchmarks/constraints.py --only level --tables 100 --permutations 99

"speed" times ``ca.anova`` of tables of counts with 5 constraints. Both kinds of p-values are computed in that time. The
ratio is to vegan's own time for the same test of the same table in the same run.

"level" draws tables whose tested variables explain nothing beyond the others, and says how often the p-value of
vegan's test (``pvalues``) and that of permuted sites (``site_pvalues``) are at most .05; "power" is the same where they
explain something. Counts are Poisson, or negative binomial (a variance of m + m^2); totals of sites are about equal, or
lognormal with a standard deviation of .8 and 1.5 on the log scale.

"smooth" fits straight lines and curves (``constraints="smooth"``) to sites whose truth is known, and says what both
capture of 1000 other sites, and of how many tables curves were chosen. "unimodal": each species has an optimum on a
gradient; "linear": 1 + c x g(y) is the ratio of the shares; "both": a unimodal gradient and a linear one; "noise":
nothing depends on the constraints. All have another constraint that says nothing.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import resource
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import correspondence as co

ALPHA = 0.05
MEBIBYTE_IN_KIB = 1024


# --- speed


def make_speed_table(n, m, seed=0):
    rng = np.random.default_rng(seed)
    env = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    counts = rng.poisson(np.exp(0.3 * env.to_numpy() @ rng.normal(size=(5, m)) + rng.normal(size=m)))
    counts[:, 0] += 1
    counts[0] += 1
    return pd.DataFrame(counts, columns=[f"s{j}" for j in range(m)]), env


VEGAN = """
suppressMessages(library(vegan))
args <- commandArgs(TRUE)
Y <- read.csv(args[1]); env <- read.csv(args[2]); n <- as.integer(args[3])
m <- cca(Y ~ a + b + c + d + e, env)
kinds <- c(list(NULL, "terms", "margin"), if (nrow(Y) < 100) "axis")  # minutes for axes of larger tables
for (by in kinds) cat(system.time(anova(m, by = by, permutations = n))[["elapsed"]], "")
"""


def time_vegan(counts, env, n_permutations):
    """Time the four tests of vegan, or return NaN if it is not there."""
    if shutil.which("Rscript") is None:
        return [np.nan] * 4
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, name)) for name in ("counts.csv", "env.csv")]
        counts.to_csv(paths[0], index=False)
        env.to_csv(paths[1], index=False)
        call = ["Rscript", "-e", VEGAN, *paths, str(n_permutations)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
    return [float(text) for text in done.stdout.split()] if done.returncode == 0 else [np.nan] * 4


def report_speed():
    """Print seconds of all kinds of tests, beside vegan's."""
    print("| table | permutations | test | seconds | vegan, seconds | ratio |")
    print("|---|---|---|---|---|---|")
    for n, m, n_permutations in ((30, 45, 9999), (200, 300, 999), (1000, 2000, 999)):
        counts, env = make_speed_table(n, m)
        theirs = (time_vegan(counts, env, n_permutations) if n < 1000 else []) + [np.nan] * 4
        ca = co.CA().fit(counts, constraints=env)
        for by, other in zip((None, "term", "margin", "axis"), theirs, strict=False):
            begin = time.perf_counter()
            ca.anova(by, n_permutations, progress=False)
            seconds = time.perf_counter() - begin
            row = [f"{n} x {m}", f"{n_permutations:,}", by or "overall", f"{seconds:.2f}", f"{other:.2f}"]
            print("| " + " | ".join([*row, f"{seconds / other:.2f}"]).replace("nan", "") + " |", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEBIBYTE_IN_KIB
    print(f"Largest memory of the process: {peak:.0f} MiB; load average {os.getloadavg()[0]:.1f}")


# --- level and power

N_SITES, N_SPECIES, N_BLOCKS = 30, 25, 6
SCATTERS = {"Poisson": None, "overdispersed": 1.0}  # the size of a negative binomial distribution
SPREADS = (0.1, 0.8, 1.5)  # standard deviations of the logarithms of the totals of sites
STRENGTH = 0.35  # of a tested variable that explains something; other variables explain with .7


@dataclass(frozen=True)
class Situation:
    """Variables of the sites: what is tested, and how."""

    name: str
    by: str | None
    row: int  # the row of the table of tests that is judged

    def draw(self, rng, strength):
        """Draw the frames of constraints and conditions, the strata, and the effects on the species."""
        z, u, v = rng.normal(size=(3, N_SITES))
        species = rng.normal(size=(3, N_SPECIES))
        tested, other = strength * species[0], 0.7 * species[1]
        if self.name == "all constraints":
            return pd.DataFrame({"u": u, "v": v}), None, None, np.outer(u, tested)
        related = 0.7 * z + 0.7 * u
        if self.name == "after a condition":
            frame = pd.DataFrame({"u": related, "v": 0.7 * z + 0.7 * v})
            return frame, pd.DataFrame({"z": z}), None, np.outer(related, tested) + np.outer(z, other)
        if self.name == "margin":
            return pd.DataFrame({"z": z, "u": related}), None, None, np.outer(related, tested) + np.outer(z, other)
        if self.name in ("term", "axis"):
            return pd.DataFrame({"u": u, "z": z}), None, None, np.outer(u, tested) + np.outer(z, other)
        blocks = np.arange(N_SITES) % N_BLOCKS
        effects = 0.7 * rng.normal(size=(N_BLOCKS, N_SPECIES))
        inside = rng.normal(size=N_BLOCKS)[blocks] + u
        return pd.DataFrame({"u": inside, "v": v}), None, blocks, np.outer(u, tested) + effects[blocks]


SITUATIONS = (
    Situation("all constraints", None, 0),
    Situation("after a condition", None, 0),
    Situation("within strata", None, 0),
    Situation("term", "term", 0),
    Situation("margin", "margin", 1),
    Situation("axis", "axis", 1),
)


def draw_counts(rng, effects, size, spread):
    """Draw counts of sites whose totals and species are unequal."""
    shares = np.exp(effects) * rng.dirichlet(np.full(N_SPECIES, 0.7))
    shares /= shares.sum(axis=1, keepdims=True)
    means = rng.lognormal(4.5, spread, size=(N_SITES, 1)) * shares + 1e-12
    return rng.poisson(means if size is None else means * rng.gamma(size, 1 / size, means.shape))


def find_pvalues(situation, size, spread, strength, seed, n_permutations):
    """Return both p-values of a table that is drawn."""
    rng = np.random.default_rng([seed, int(10 * spread), int(100 * strength), len(situation.name)])
    constraints, given, groups, effects = situation.draw(rng, strength)
    counts = draw_counts(rng, effects, size, spread)
    rows, columns = counts.sum(axis=1) > 0, counts.sum(axis=0) > 0
    ca = co.CA().fit(
        counts[rows][:, columns],
        constraints=constraints[rows].reset_index(drop=True),
        given=None if given is None else given[rows].reset_index(drop=True),
    )
    groups = None if groups is None else groups[rows]
    tests = ca.anova(situation.by, n_permutations, groups=groups, random_state=seed, progress=False)
    return tests.pvalues[situation.row], tests.site_pvalues[situation.row]


def measure_rejections(situation, size, spread, strength, n_tables, n_permutations):
    """Return how often each p-value is at most .05."""
    pvalues = [find_pvalues(situation, size, spread, strength, seed, n_permutations) for seed in range(n_tables)]
    return (np.array(pvalues) <= ALPHA).mean(axis=0)


def report_level(n_tables, n_permutations):
    """Print levels and powers."""
    print(f"{n_tables} tables of {N_SITES} sites and {N_SPECIES} species of each kind, {n_permutations} permutations")
    print("| test | counts | spread of totals | level, vegan's | level, sites | power, vegan's | power, sites |")
    print("|---|---|---|---|---|---|---|")
    for situation in SITUATIONS:
        for scatter, size in SCATTERS.items():
            for spread in SPREADS:
                level, power = (
                    measure_rejections(situation, size, spread, strength, n_tables, n_permutations)
                    for strength in (0.0, STRENGTH)
                )
                figures = [f"{value:.3f}" for value in (*level, *power)]
                print("| " + " | ".join([situation.name, scatter, str(spread), *figures]) + " |", flush=True)


# --- straight lines and curves

TRUTHS = ("unimodal", "linear", "both", "noise")
N_NEW_SITES = 1000
TOTAL_OF_SITE = 60
MAX_TABLES_OF_CURVES = 100


def draw_truth(truth, rng):
    """Draw what decides the shares of 20 species: optima on a gradient, and slopes."""
    optima, slopes, mass = rng.uniform(-2, 2, 20), rng.choice([-1.0, 1.0], 20), rng.dirichlet(np.full(20, 2.0))
    slopes -= mass @ slopes
    largest = np.abs(slopes).max() * np.sqrt(3)  # x is uniform with variance 1

    def draw_sites(n):
        env = rng.uniform(-np.sqrt(3), np.sqrt(3), size=(n, 3))
        shares = np.tile(mass, (n, 1))
        if truth in ("unimodal", "both"):
            shares = shares * np.exp(-((env[:, :1] - optima) ** 2) / (2 * 0.8**2))
        if truth in ("linear", "both"):
            shares = shares * (1 + 0.9 * env[:, 1:2] * slopes / largest)
        shares /= shares.sum(axis=1, keepdims=True)
        scatter = rng.gamma(2, 1 / 2, shares.shape)  # counts scatter more than Poisson's
        counts = rng.poisson(TOTAL_OF_SITE * rng.lognormal(0, 0.5, (n, 1)) * shares * scatter)
        counts[counts.sum(axis=1) == 0, 0] = 1
        return counts, pd.DataFrame(env, columns=["bent", "straight", "nothing"])

    return draw_sites


def compare_curves(truth, n, seed):
    """Return what straight lines and curves capture of other sites, and whether curves were chosen."""
    draw_sites = draw_truth(truth, np.random.default_rng([seed, n, TRUTHS.index(truth)]))
    (counts, env), (new_counts, new_env) = draw_sites(n), draw_sites(N_NEW_SITES)
    occurs = counts.any(axis=0)
    fits = [co.CA(constraints=kind).fit(counts[:, occurs], constraints=env) for kind in ("linear", "smooth")]
    captured = [ca.score(new_counts[:, occurs], constraints=new_env) for ca in fits]
    return [*captured, any(fits[1].bends_.values())]


def report_curves(n_tables):
    """Print what straight lines and curves capture."""
    print(f"{n_tables} tables of 20 species each; captured of {N_NEW_SITES} other sites, with the standard error")
    print("| truth | sites | straight lines | smooth | smooth - straight | curves chosen |")
    print("|---|---|---|---|---|---|")
    for truth in TRUTHS:
        for n in (20, 40, 80):
            found = np.array([compare_curves(truth, n, seed) for seed in range(n_tables)], dtype=float)
            gain = found[:, 1] - found[:, 0]
            error = gain.std(ddof=1) / np.sqrt(n_tables)
            means = [f"{value:.3f}" for value in found[:, :2].mean(axis=0)]
            row = [truth, str(n), *means, f"{gain.mean():+.3f} +- {error:.3f}", f"{found[:, 2].mean():.0%}"]
            print("| " + " | ".join(row) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("speed", "level", "smooth"))
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=199)
    options = parser.parse_args()
    if options.only in (None, "speed"):
        report_speed()
    if options.only in (None, "level"):
        report_level(options.tables, options.permutations)
    if options.only in (None, "smooth"):
        report_curves(min(options.tables, MAX_TABLES_OF_CURVES))


if __name__ == "__main__":
    main()
