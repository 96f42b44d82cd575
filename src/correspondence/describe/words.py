"""What characterises groups of documents, or of rows of any table of counts: words, and documents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import check_seed, is_number
from correspondence._util.text import distinct_lines, one_line, short_repr
from correspondence.core.group_tests import adjust_pvalues, compute_log_pvalues, compute_vtests
from correspondence.data.answers import MISSING_CODE, list_answers
from correspondence.data.column_kinds import decide_column_kind
from correspondence.data.column_reading import read_array_column
from correspondence.data.column_summary import summarise_column
from correspondence.data.readable_columns import NUMBER_KINDS
from correspondence.describe.documents import count_words
from correspondence.describe.tested_columns import are_cluster_numbers, warn_of_left_out
from correspondence.results.description_table import DescriptionTable
from correspondence.results.words import WordsDescription

__all__ = ["describe_words"]

MAX_CELLS = 500_000  # groups times words, from which on rare words are left out
MIN_COUNT = 5  # a word that occurs fewer times is rare
MIN_WORDS_OF_DOCUMENT = 10  # shorter documents are not typical of anything, if there are longer ones
DOCUMENTS_PER_GROUP = 5
MAX_NUMBERS_AS_GROUPS = 10  # different numbers; more are measured


class _Documents(NamedTuple):
    """Some documents: their counts, their groups and their positions."""

    counts: sp.csr_array
    codes: np.ndarray
    positions: np.ndarray

    def count_words(self, n_groups: int) -> np.ndarray:
        """Count each word in each group."""
        n = len(self.codes)
        membership = sp.csr_array((np.ones(n), (self.codes, np.arange(n))), shape=(n_groups, n))
        return np.asarray((membership @ self.counts).toarray())

    def take_rows(self, rows: np.ndarray) -> _Documents:
        """Return some of the documents."""
        return _Documents(self.counts[rows], self.codes[rows], self.positions[rows])


def describe_words(
    documents: Any, by: Any, held_out: Any, alpha: float, adjustment: str, random_state: int
) -> WordsDescription:
    """Test which words each group uses more, or less, than all together; see `describe_groups`."""
    table = count_words(documents)
    codes, groups = _read_groups(by, table.shape[0])
    whole = _Documents(sp.csr_array(table.counts), codes, np.arange(len(codes)))
    if (codes == MISSING_CODE).any():
        whole = whole.take_rows(np.flatnonzero(codes != MISSING_CODE))
    used, others = _split_documents(whole, held_out, random_state)
    cells = used.count_words(len(groups))
    kept = _find_common_words(cells)
    words = np.array([one_line(word) for word in table.columns[kept].tolist()], dtype=object)
    columns = _test_words(cells[:, kept], cells.sum(axis=1))
    columns["documents"] = _count_documents(used, kept, len(groups))
    if others is not None:
        seen = others.count_words(len(groups))
        tested = _test_words(seen[:, kept], seen.sum(axis=1))
        columns |= {f"held_out_{name}": tested[name] for name in ("n", "share", "vtest", "pvalue")}
    vtests = np.zeros((len(groups), table.shape[1]))
    vtests[:, kept] = columns["vtest"]
    return WordsDescription(
        groups,
        np.bincount(used.codes, minlength=len(groups)),
        cells.sum(axis=1),
        _sort_words(columns, words, groups, adjustment),
        _rank_documents(used, cells, vtests, table.rows, groups),
        alpha,
        adjustment,
        0 if others is None else len(others.codes),
    )


def _read_groups(by: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(by, str) or np.ndim(by) != 1 or len(by) != n:
        got = short_repr(by) if isinstance(by, str) or np.ndim(by) != 1 else f"{len(by)} labels"
        raise ValueError(f"by must have a label for each of the {n} rows of frame, got {got}.")
    column = by if isinstance(by, np.ndarray) else np.array(list(by), dtype=object)
    codes, different, _ = list_answers(column, "by")
    if len(different) > MAX_NUMBERS_AS_GROUPS and _are_numbers(column):
        raise ValueError(f"by must be groups, got {len(different):,} different numbers. Cut them into ranges.")
    if len(different) < 2:
        raise ValueError(f"by must have at least two groups, got {len(different)}. Choose other labels.")
    if (codes == MISSING_CODE).any():
        warn_of_left_out(
            f"{int((codes == MISSING_CODE).sum()):,} of {n:,} rows are left out: by has no group for them."
        )
    return codes.astype(np.int64), np.array(distinct_lines(different.tolist()), dtype=object)


def _are_numbers(column: np.ndarray) -> bool:
    values = read_array_column(column, "by")
    kind = decide_column_kind("by", summarise_column(values), len(values), is_alone=True).kind
    return kind in NUMBER_KINDS and not are_cluster_numbers(values)


def _split_documents(documents: _Documents, held_out: Any, seed: int) -> tuple[_Documents, _Documents | None]:
    if held_out is None:
        return documents, None
    n = len(documents.codes)
    if not is_number(held_out) or not 0 < held_out * n < n - 1:
        got = short_repr(held_out) if np.ndim(held_out) == 0 else type(held_out).__name__
        raise ValueError(f"held_out must be a share of the documents between 0 and 1, got {got}.")
    order = check_seed(seed).permutation(n)
    m = max(1, round(held_out * n))
    return documents.take_rows(np.sort(order[m:])), documents.take_rows(np.sort(order[:m]))


def _find_common_words(cells: np.ndarray) -> np.ndarray:
    """Find the words that are tested: those that occur, and in large tables not rarely."""
    totals = cells.sum(axis=0)
    occurs = np.flatnonzero(totals > 0)
    if cells.shape[0] * len(occurs) <= MAX_CELLS:
        return occurs
    common = np.flatnonzero(totals >= MIN_COUNT)
    if len(common) < len(occurs):
        warn_of_left_out(
            f"{len(occurs) - len(common):,} of {len(occurs):,} words are left out: fewer than {MIN_COUNT} times."
        )
    return common


def _test_words(cells: np.ndarray, sizes: np.ndarray) -> dict[str, np.ndarray]:
    """Test each word in each group; all counts of a group, with those of words left out, are its size."""
    n = sizes.sum()
    totals = np.broadcast_to(cells.sum(axis=0), cells.shape)
    whole = [np.rint(part) for part in np.broadcast_arrays(cells, sizes[:, None], totals, n)]
    log_p = compute_log_pvalues(*whole, mid=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, overall = cells / sizes[:, None], totals / n
    return {"n": cells, "share": share, "overall": overall} | {
        "vtest": compute_vtests(log_p, share > overall),
        "pvalue": np.exp(log_p),
    }


def _count_documents(documents: _Documents, kept: np.ndarray, n_groups: int) -> np.ndarray:
    present = documents.counts[:, kept]
    present.data = (present.data > 0).astype(float)
    return documents._replace(counts=present).count_words(n_groups)


def _sort_words(
    columns: dict[str, np.ndarray], words: np.ndarray, groups: np.ndarray, adjustment: str
) -> DescriptionTable:
    k, m = len(groups), len(words)
    made: dict[str, Any] = {"group": np.repeat(groups, m), "word": np.tile(words, k)}
    made |= {name: values.ravel() for name, values in columns.items()}
    made["adjusted_pvalue"] = adjust_pvalues(made["pvalue"], adjustment)
    order = np.lexsort((-made["vtest"], np.repeat(np.arange(k), m)))
    names = ("group", "word", "n", "documents", "share", "overall", "vtest", "pvalue", "adjusted_pvalue")
    listed = [*names, *(name for name in made if name.startswith("held_out"))]
    return DescriptionTable({name: made[name][order] for name in listed})


def _rank_documents(
    documents: _Documents, cells: np.ndarray, vtests: np.ndarray, labels: np.ndarray, groups: np.ndarray
) -> DescriptionTable:
    """Find the documents nearest to the profile of their group, and those with the highest mean v-test."""
    lengths = np.asarray(documents.counts.sum(axis=1))
    profiles = sp.csr_array(sp.diags_array(1 / np.maximum(lengths, 1e-300)) @ documents.counts)
    overall = cells.sum(axis=0) / cells.sum()
    centres = cells / np.maximum(cells.sum(axis=1), 1e-300)[:, None]
    with np.errstate(divide="ignore"):
        scale = np.where(overall > 0, 1 / overall, 0)
    # sum_j (p_j - g_j)^2 / c_j, without a dense matrix of the documents.
    own = profiles.power(2) @ scale
    distances = own - 2 * _pick_groups(profiles, centres * scale, documents.codes)
    distances += ((centres**2) @ scale)[documents.codes]
    figures = {"n": lengths, "distance": np.sqrt(np.maximum(distances, 0))}
    figures["mean_vtest"] = _pick_groups(profiles, vtests, documents.codes)
    parts = []
    for j in range(len(groups)):
        rows = np.flatnonzero((documents.codes == j) & (lengths > 0))
        rows = rows[lengths[rows] >= min(MIN_WORDS_OF_DOCUMENT, np.median(lengths[rows], axis=0) if len(rows) else 0)]
        for criterion, values in (("profile", figures["distance"]), ("words", -figures["mean_vtest"])):
            best = rows[np.argsort(values[rows], kind="stable")[:DOCUMENTS_PER_GROUP]]
            parts += [(groups[j], criterion, rank + 1, i) for rank, i in enumerate(best.tolist())]
    at = np.array([part[3] for part in parts], dtype=int)
    columns: dict[str, Any] = {
        name: np.array([part[i] for part in parts], dtype=object if i < 2 else int)
        for i, name in enumerate(("group", "criterion", "rank"))
    }
    columns["document"] = np.array([str(label) for label in labels[documents.positions[at]].tolist()], dtype=object)
    columns["position"] = documents.positions[at]
    return DescriptionTable(columns | {name: values[at] for name, values in figures.items()})


def _pick_groups(profiles: sp.csr_array, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Multiply each document with the values of its own group."""
    return np.asarray((profiles @ values.T)[np.arange(len(codes)), codes])
