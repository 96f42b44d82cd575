"""Linear CCA of 15,000 pairs of texts against the randomised decompositions that it cannot do without.

``python benchmarks/text.py`` prints seconds, CPU seconds, the ratio of these to the floor of the same run, and what the
functions capture of other texts. ``python benchmarks/text.py --only groups`` prints how long `describe_groups`
takes for the words and documents of the newsgroups.
The texts are the 20 newsgroups of the data folder (``CORRESPONDENCE_DATA``): the subject of a post against its body,
and the body against its group. Without the data folder, texts are drawn from made-up topics.
"""

from __future__ import annotations

import re
import sys
import tarfile
import time
from pathlib import Path

import numpy as np

import correspondence as co
from correspondence.core.sparse_basis import find_sparse_basis, weigh_words
from correspondence.data.encoders.text import Text
from correspondence.datasets.data_folder import find_in_data_folder

N_TRAIN, N_TEST = 15_000, 3000


def read_newsgroups(archive: Path) -> tuple[list[str], list[str], np.ndarray]:
    """Read subjects, bodies and groups of all posts, in an order that does not depend on the archive's."""
    posts = []
    with tarfile.open(archive) as files:
        for member in files:
            if member.isfile():
                head, _, body = files.extractfile(member).read().decode("latin-1").partition("\n\n")
                subject = re.search(r"(?im)^subject:\s*(.*)$", head)
                posts.append((member.name, subject.group(1) if subject else "", body, member.name.split("/")[-2]))
    posts = [sorted(posts)[i] for i in np.random.default_rng(0).permutation(len(posts))]
    _, subjects, bodies, groups = zip(*posts, strict=True)
    return list(subjects), list(bodies), np.array(groups, dtype=object)


def draw_texts(rng: np.random.Generator) -> tuple[list[str], list[str], np.ndarray]:
    """Draw subjects and bodies of 20 topics."""
    n = N_TRAIN + N_TEST
    topics = rng.integers(20, size=n)
    rank = (20_000 * rng.random((n, 120)) ** 4).astype(int)
    words = np.where(rng.random((n, 120)) < 0.3, 20_000 + 200 * topics[:, None] + rank % 200, rank)
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    return [" ".join(text.split()[:8]) for text in texts], texts, np.array([f"topic {t}" for t in topics], dtype=object)


def measure_floor(*sides: list[str]) -> float:
    """Measure the CPU seconds of the randomised decompositions of the weighted bags of words alone."""
    seconds = 0.0
    for texts in sides:
        rows = Text.fit(texts, "X")(texts, "X")
        start = time.process_time()
        find_sparse_basis(rows, weigh_words(rows))
        seconds += time.process_time() - start
    return seconds


def measure_groups() -> None:
    """Print the seconds that the characteristic words and documents of the newsgroups take, beside counting them."""
    posts = co.datasets.fetch_newsgroups()
    groups = np.array([str(name).split("/")[-2] for name in posts.rows], dtype=object)
    for held_out in (None, 0.3):
        start, begin = time.perf_counter(), time.process_time()
        found = co.describe_groups(posts, groups, held_out=held_out)
        seconds, cpu = time.perf_counter() - start, time.process_time() - begin
        told = sum(len(found.find_words(group)) for group in found.groups)
        size = f"{posts.shape[0]:,} posts, {len(found.groups)} groups, {found.n_held_out:,} held out"
        print(f"{size}: {seconds:.1f} s, {cpu:.1f} CPU seconds, {told:,} characteristic words")


def main() -> None:
    """Print a row for each problem."""
    if sys.argv[1:] == ["--only", "groups"]:
        return measure_groups()
    archive = find_in_data_folder("scale/20news-bydate.tar.xz")
    subjects, bodies, groups = read_newsgroups(archive) if archive else draw_texts(np.random.default_rng(0))
    print(f"{'newsgroups' if archive else 'made-up topics'}, {N_TRAIN:,} pairs, {N_TEST:,} held out")
    print(f"{'problem':<22}{'seconds':>9}{'CPU':>7}{'floor':>8}{'ratio':>7}{'captured':>10}")
    problems = (
        ("subject against body", subjects, bodies, 3, (subjects, bodies)),
        ("body against group", bodies, groups, 10, (bodies,)),
    )
    for name, X, Y, d, texts in problems:
        floor = measure_floor(*(side[:N_TRAIN] for side in texts))
        start, begin = time.perf_counter(), time.process_time()
        est = co.CCA(n_components=d).fit(X[:N_TRAIN], Y[:N_TRAIN])
        seconds, cpu = time.perf_counter() - start, time.process_time() - begin
        captured = est.score(X[-N_TEST:], Y[-N_TEST:])
        row = f"{name:<22}{seconds:>9.1f}{cpu:>7.1f}{floor:>8.1f}{cpu / floor:>7.1f}{captured:>10.3f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
