"""Search of 1 M items with 50 components for 1000 queries, against a plain BLAS top-k: `make bench`.

The floor is what one would write by hand: a matrix product a block of items at a time, `numpy.argpartition`, and a
merge of what the blocks gave, in double and in single precision. Interleaved, the best counts.

`--calibration` measures instead what the first item found is claimed to be worth, before and after `calibrate`, and
which ranking held-out pairs choose: views of hidden numbers, and the photographs and captions of Flickr8k by linear
CCA (CORRESPONDENCE_DATA must have them). `--nets` adds the nets of the study `flickr`, trained for fewer epochs:
minutes. They stop by the last photographs of the training part, so that the dev part is left for the calibration.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")
os.environ.setdefault("OMP_NUM_THREADS", "2")

import argparse
import importlib.util
import time

import numpy as np

import correspondence as co
from correspondence.search.nearest_items import ItemScores

K = 10
N_EPOCHS, N_STOPPING = 10, 600  # of the nets, and the training photographs by which they stop


def draw_clustered(rng, centres, n):
    """Draw points around centres, as embeddings of things of some kinds are."""
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, centres.shape[1]))


def search_by_hand(queries, items, offsets, k, step=20_000):
    best = np.full((len(queries), k), -np.inf, items.dtype)
    index = np.zeros((len(queries), k), np.intp)
    for start in range(0, len(items), step):
        scores = queries @ items[start : start + step].T + offsets[start : start + step]
        few = np.argpartition(-scores, k, axis=1)[:, :k]
        values = np.hstack([best, np.take_along_axis(scores, few, axis=1)])
        places = np.hstack([index, few + start])
        order = np.argsort(-values, axis=1)[:, :k]
        best, index = np.take_along_axis(values, order, axis=1), np.take_along_axis(places, order, axis=1)
    return index


def time_run(run):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def measure(runners, repeats):
    """Find the best seconds and the result of each runner, taken in turn."""
    seconds, results = dict.fromkeys(runners, np.inf), {}
    for _ in range(repeats):
        for name, run in runners.items():
            taken, results[name] = time_run(run)
            seconds[name] = min(seconds[name], taken)
    return seconds, results


def print_report(title, seconds, results, floor):
    print(f"\n{title} (load average {os.getloadavg()[0]:.1f})")
    print(f"  {'':<34}{'seconds':>9}{'ratio':>8}  same items")
    for name, taken in seconds.items():
        same = np.mean(results[name] == results[floor])
        print(f"  {name:<34}{taken:>9.3f}{taken / seconds[floor]:>8.2f}  {100 * same:.2f} %")


# --- calibration


def draw_views(seed, n_fit, k=8, width=30, noise=1.8):
    """Draw two views of k hidden numbers: a fit, 1000 held-out pairs and 1000 test pairs."""
    rng = np.random.default_rng(seed)
    n = n_fit + 2000
    shared, (a, b) = rng.normal(size=(n, k)), rng.normal(size=(2, k, width))
    X, Y = (shared @ side + noise * rng.normal(size=(n, width)) for side in (a, b))
    est = co.CCA(n_components=k).fit(X[:n_fit], Y[:n_fit])
    held, test = slice(n_fit, n_fit + 1000), slice(n_fit + 1000, n)
    return est, (X[held], Y[held]), (X[test], Y[test])


def load_flickr():
    """Fit linear CCA to colours and edges of photographs, and the words of their captions."""
    from correspondence.studies import flickr_runs

    data = flickr_runs.load_photos(quick=False)
    features = flickr_runs.compute_histograms(data)
    fit = flickr_runs.fit_linear_baseline("CCA, colours and edges", data, features).index.decomposition
    return fit, (features[1], data.dev.logs), (features[2], data.test.logs)


def load_flickr_nets():
    """Fit two nets to photographs and the words of their captions."""
    from correspondence.studies import flickr_runs

    data = flickr_runs.load_photos(quick=False)
    photos, counts = data.train.photos, data.train.counts
    pice = flickr_runs.make_nets(counts[:-N_STOPPING], 0, quick=False, n_epochs=N_EPOCHS)
    start = time.perf_counter()
    fit, stop = slice(None, -N_STOPPING), slice(-N_STOPPING, None)
    pice.fit(photos[fit], counts[fit], validation=(photos[stop], counts[stop]))
    print(f"  PICE, {N_EPOCHS} epochs: {time.perf_counter() - start:.0f} s (load average {os.getloadavg()[0]:.1f})")
    return pice, (data.dev.photos, data.dev.counts), (data.test.photos, data.test.counts)


def measure_claims(est, held_out, test):
    """Measure how often the first y found for a test x is right, and what is claimed of it."""
    X, Y = test
    indexes = {
        "default": co.CrossModalIndex(est, None, Y),
        "held out": co.CrossModalIndex(est, None, Y, held_out=held_out),
    }
    rankings = [("posterior", False), ("gaussian", False), ("distance", True), ("cosine", True)]
    indexes |= {by: co.CrossModalIndex(est, None, Y, by=by, scaled=s, held_out=held_out) for by, s in rankings}
    for name, index in indexes.items():
        found = index.tags(X, k=len(Y))
        rank = 1 + np.argmax(found.index == np.arange(len(Y))[:, None], axis=1)
        claimed = index.calibration["tags"].claimed if index.calibration else found.scores[:, 0].mean()
        after = f"{found.probabilities[:, 0].mean():.3f}" if found.is_calibrated else ""
        how = index.by + (", scaled" if index.scaled else "")
        print(f"  {name:<12}{how:<18}{np.mean(1 / rank):>8.3f}{np.mean(rank == 1):>8.3f}{claimed:>9.3f}{after:>12}")


def measure_calibration(with_nets):
    problems = {f"views of 8 hidden numbers, fit to {n} pairs": lambda n=n: draw_views(0, n) for n in (100, 400, 4000)}
    problems["Flickr8k: 1000 test photographs, their captions among 1000"] = load_flickr
    if with_nets:
        problems["Flickr8k, nets: the same 1000 test photographs"] = load_flickr_nets
    for title, make in problems.items():
        print(f"\n{title}")
        fitted = make()
        print(f"  {'index':<12}{'ranked by':<18}{'MRR':>8}{'right':>8}{'claimed':>9}{'calibrated':>12}")
        measure_claims(*fitted)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--components", type=int, default=50)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--calibration", action="store_true")
    parser.add_argument("--nets", action="store_true")
    args = parser.parse_args()
    if args.calibration:
        measure_calibration(args.nets)
        return
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(200, args.components))
    items, queries = draw_clustered(rng, centres, args.items), draw_clustered(rng, centres, args.queries)
    offsets = rng.random(args.items)
    floor = "by hand, BLAS, double"
    single = [values.astype(np.float32) for values in (queries, items, offsets)]
    engines = {"ours, scikit-learn": ItemScores(items, offsets, "sklearn")}
    if importlib.util.find_spec("faiss") is not None:
        engines["ours, faiss"] = ItemScores(items, offsets, "faiss")
    else:
        print('faiss is not installed (pip install "faiss-cpu>=1.8"): left out')
    for n in (args.queries, 1):
        runners = {
            floor: lambda n=n: search_by_hand(queries[:n], items, offsets, K),
            "by hand, BLAS, single": lambda n=n: search_by_hand(single[0][:n], *single[1:], K),
        }
        runners |= {name: lambda s=scores, n=n: s.find_best(queries[:n], K) for name, scores in engines.items()}
        for scores in engines.values():
            scores.find_best(queries[:1], K)  # builds the index
        seconds, results = measure(runners, args.repeats)
        what = f"{args.items:,} items x {args.components} components, {n} quer{'ies' if n > 1 else 'y'}, {K} nearest"
        print_report(what, seconds, results, floor)


if __name__ == "__main__":
    main()
