"""What characterises groups of documents: tables of words and of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.summaries import WithSentences
from correspondence.data.readable_columns import find_telling_words
from correspondence.results.description_table import DescriptionTable
from correspondence.results.effect_texts import format_share
from correspondence.results.points import FrameResult

__all__ = ["WordsDescription"]

MAX_GROUPS_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class WordsDescription(WithSentences, FrameResult):
    """What characterises groups of documents: their words, and the documents that show them best.

    `to_frame` has the table of words.

    Attributes
    ----------
    groups : ndarray of str
        The names of the groups.
    sizes : ndarray of int
        The number of documents of each group.
    totals : ndarray
        The number of words of each group, or the total of its counts.
    words : DescriptionTable
        For each group and word: group, word, n (how often), documents (of the group that have it), share (of the words
        of the group), overall (share of all words), vtest, pvalue (hypergeometric) and adjusted_pvalue; by
        group, and in it from the most over-used word to the most under-used one. With held-out documents also
        held_out_n, held_out_share, held_out_vtest and held_out_pvalue.
    documents : DescriptionTable
        For each group five documents nearest to its profile ("profile") and five with the most characteristic words
        ("words"): group, criterion, rank, document, position, n (words), distance (chi-square distance from the
        profile of the group) and mean_vtest (of the words of the document).
    alpha : float
        Sentences tell words with an adjusted p-value of at most this.
    adjustment : {"fdr", "holm"}
        How p-values are adjusted for the number of words and groups.
    n_held_out : int
        The number of held-out documents.

    Examples
    --------
    >>> import correspondence as co
    >>> texts = ["the sea and the sand", "red sand by the sea"] * 5 + ["a green tree", "the leaf of a tree"] * 5
    >>> co.describe_groups(texts, ["coast"] * 10 + ["wood"] * 10)
    WordsDescription of 2 groups, 20 documents, 80 words
      coast (10 documents): sand 20 % of its words, 12 % overall; sea 20 %, 12 % overall.
      wood (10 documents): tree 33 % of its words, 12 % overall; green 17 %, 6 % overall; leaf 17 %, 6 % overall.
    """

    _n_text_lines = None

    groups: np.ndarray
    sizes: np.ndarray
    totals: np.ndarray
    words: DescriptionTable
    documents: DescriptionTable
    alpha: float = 0.05
    adjustment: str = "fdr"
    n_held_out: int = 0

    def __post_init__(self) -> None:
        read_only(self, "groups", "sizes", "totals")

    def find_words(self, group: str) -> list[dict[str, Any]]:
        """Find the words that a group uses clearly more than all together, the clearest first.

        Words such as "of" are left out, and with held-out documents those that do not hold there.

        Parameters
        ----------
        group : str
            The name of the group.

        Returns
        -------
        list of dict
            Rows of the table of words.
        """
        table = self.words
        clear = (table["group"] == group) & (table["vtest"] > 0) & (table["adjusted_pvalue"] <= self.alpha)
        if self.n_held_out:
            clear &= (table["held_out_vtest"] > 0) & (table["held_out_pvalue"] <= self.alpha)
        found = table.take_rows(np.flatnonzero(clear)).columns
        rows = [dict(zip(found, own, strict=True)) for own in zip(*(v.tolist() for v in found.values()), strict=True)]
        return [rows[i] for i in find_telling_words([row["word"] for row in rows])]

    def write_sentences(self, most: int = 3) -> list[str]:
        """Write for each group which words it uses more than all together.

        Parameters
        ----------
        most : int
            Tell at most this many words of each group.

        Returns
        -------
        list of str
            One sentence for each group.
        """
        return [self._write_sentence(i, most) for i in range(len(self.groups))]

    def _write_sentence(self, i: int, most: int) -> str:
        found = self.find_words(str(self.groups[i]))
        parts: list[str] = []
        for row in found[:most]:
            share, overall = format_share(row["share"], row["overall"])
            parts.append(f"{row['word']} {share}{'' if parts else ' of its words'}, {overall} overall")
        more = [f"and {len(found) - most} more"] if len(found) > most else []
        text = "; ".join([*parts, *more]) if parts else "no word tells it from the others"
        return f"{self.groups[i]} ({self.sizes[i]:,} documents): {text}."

    def _collect_columns(self) -> dict[str, Any]:
        return dict(self.words.columns)

    def __repr__(self) -> str:
        held = f" ({self.n_held_out:,} held out)" if self.n_held_out else ""
        head = f"{len(self.groups)} groups, {self.sizes.sum():,} documents{held}, {self.totals.sum():,.0f} words"
        more = ["  ..."] if len(self.groups) > MAX_GROUPS_SHOWN else []
        shown = self.write_sentences()[:MAX_GROUPS_SHOWN]
        return "\n".join([f"WordsDescription of {head}", *(f"  {line}" for line in shown), *more])
