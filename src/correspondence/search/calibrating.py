"""What scores of an index are worth: probabilities and the best ranking, learned on held-out pairs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.core.decomposition import Decomposition
from correspondence.results.matches import MatchCalibration
from correspondence.search.items import (
    Claim,
    ItemSide,
    check_members,
    find_places,
    to_log_odds,
    to_probabilities,
)

__all__ = [
    "HeldOutQueries",
    "calibrate_side",
    "check_ranking",
    "choose_ranking",
    "is_auto",
    "measure_rankings",
    "pack_calibration",
    "read_calibration",
    "read_held_out",
]

Ranking = tuple[str, bool]  # its name, and whether f and g are scaled by sqrt(lambda)
RANKINGS: tuple[Ranking, ...] = (  # the first of equally good ones is taken
    ("posterior", False),
    ("gaussian", False),
    ("ratio", False),
    ("distance", False),
    ("distance", True),
    ("cosine", False),
    ("cosine", True),
)
MIN_QUERIES = 20  # held-out queries that a probability can be learned from
MAX_CELLS = 2e7  # scores of held-out queries and items in memory at a time
MIN_QUERIES_OF_MANY_ITEMS = 50  # at least this many are used, however many items there are
TAGS_JUDGED = 5  # the first tags found that a ranking of tags is judged by
TAGS_CALIBRATED = 10  # the first tags found whose probabilities are learned
LOG_SLOPES = np.linspace(-9.0, 6.0, 46)  # where the best slope is looked for first
CLEAR_STANDARD_ERRORS = 2.0  # a ranking is clearly better than the usual one by more standard errors of the difference
PLACE_DECIMALS = 6  # items whose places are equal up to here are the same value


def is_auto(by: Any) -> bool:
    """Tell whether the ranking is left open."""
    return isinstance(by, str) and by == "auto"


def check_ranking(by: Any) -> str:
    """Return the name of a ranking."""
    names = list(dict.fromkeys(name for name, _ in RANKINGS))
    if not isinstance(by, str) or by not in names:
        raise ValueError(f"by must be one of {', '.join(map(repr, names))}, got {short_repr(by)}.")
    return by


@dataclass(frozen=True, eq=False)
class HeldOutQueries:
    """Held-out queries of a side, with the items that belong to them.

    Attributes
    ----------
    queries : ndarray of shape (n, d)
        The places of the queries.
    partners : ndarray of shape (n, d) or None
        The place of the value that belongs to each query; None if items are tags.
    has_tag : ndarray of bool of shape (n, m) or None
        Which tags belong to each query.
    """

    queries: np.ndarray
    partners: np.ndarray | None = None
    has_tag: np.ndarray | None = None

    @classmethod
    def draw(
        cls, queries: np.ndarray, n_items: int, partners: np.ndarray | None = None, has_tag: np.ndarray | None = None
    ) -> HeldOutQueries:
        """Take all queries, or a sample if there are too many for so many items, which is said."""
        n, most = len(queries), max(MIN_QUERIES_OF_MANY_ITEMS, int(MAX_CELLS / n_items))
        if n < MIN_QUERIES:
            raise ValueError(f"held_out must have at least {MIN_QUERIES} pairs, got {n}. Hold out more of them.")
        if n <= most:
            return cls(queries, partners, has_tag)
        text = f"held_out has {n} pairs: {most} of them, drawn at random, are used for {n_items} items."
        warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())
        rows = np.sort(np.random.default_rng(0).permutation(n)[:most])
        return cls(queries[rows], *(None if values is None else values[rows] for values in (partners, has_tag)))

    def score_items(self, side: ItemSide) -> ScoredQueries:
        """Score all items of a side, and the partner of each query if it is not among them."""
        scores = side.find_log_scores(self.queries)
        if self.partners is None:
            assert self.has_tag is not None
            return ScoredQueries(scores, self.has_tag)
        codes = np.unique(
            np.round(np.vstack([side.places, self.partners]), PLACE_DECIMALS), axis=0, return_inverse=True
        )
        items, own = np.split(codes[1].ravel(), [len(side.places)])
        is_right = own[:, None] == items
        # A value that the index does not hold joins its items: the search is among as many others.
        joins = ~is_right.any(axis=1)
        joined = np.where(joins, side.find_partner_scores(self.queries, self.partners), -np.inf)
        return ScoredQueries(np.column_stack([scores, joined]), np.column_stack([is_right, joins]))


@dataclass(frozen=True, eq=False)
class ScoredQueries:
    """Logarithmic scores of items (columns) for held-out queries (rows), and which items are right."""

    scores: np.ndarray
    is_right: np.ndarray

    def find_reciprocal_ranks(self) -> np.ndarray:
        """Find 1 / rank of the best right item for each query; equal items share their ranks."""
        best = np.where(self.is_right, self.scores, -np.inf).max(axis=1, keepdims=True)
        above = (self.scores > best).sum(axis=1)
        level = ((self.scores == best) & ~self.is_right).sum(axis=1)
        return 1 / (1 + above + level / 2)

    def find_precisions(self, k: int) -> np.ndarray:
        """Find the share of right items among the first k for each query."""
        return np.take_along_axis(self.is_right, self.find_first(k), axis=1).mean(axis=1)

    def find_first(self, k: int) -> np.ndarray:
        """Find the positions of the k items with the largest scores."""
        k = min(k, self.scores.shape[1])
        return np.argsort(-self.scores, axis=1, kind="stable")[:, :k]

    @cached_property
    def is_hit(self) -> np.ndarray:
        """Whether the first item found for each query is right."""
        return np.take_along_axis(self.is_right, self.find_first(1), axis=1)[:, 0]


def read_held_out(
    held_out: Any, d: Decomposition, sides: dict[str, ItemSide], has_tags: bool
) -> dict[str, HeldOutQueries]:
    """Find the places of held-out pairs, as queries of each side.

    Parameters
    ----------
    held_out : (X, Y)
        The pairs; Y says which tags each x has, if the items are tags.
    d : Decomposition
        Its functions say where the pairs lie.
    sides : dict of str to ItemSide
        The items found by "tags", and those found by "items" if they are calibrated too.
    has_tags : bool
        Whether the items are tags, several of which belong to a query.
    """
    if not isinstance(held_out, tuple | list) or len(held_out) != 2:
        raise ValueError(f"held_out must be a pair (X, Y) of held-out values, got {short_repr(held_out)}.")
    F, n_items = find_places(d.f, held_out[0], "held_out X"), len(sides["tags"].labels)
    if has_tags:
        members = check_members(held_out[1], len(F), "held_out has_tag")
        if members.shape[1] != n_items:
            raise ValueError(f"held_out must have a column for each of the {n_items} tags, got {members.shape[1]}.")
        has_tag = (members.toarray() if sp.issparse(members) else members) > 0
        return {"tags": HeldOutQueries.draw(F, n_items, has_tag=has_tag)}
    G = find_places(d.g, held_out[1], "held_out Y")
    if len(F) != len(G):
        raise ValueError(f"held_out must have as many X as Y, got {len(F)} and {len(G)}.")
    ends = {"tags": (F, G), "items": (G, F)}
    return {name: HeldOutQueries.draw(ends[name][0], len(side.labels), ends[name][1]) for name, side in sides.items()}


def measure_rankings(sides: dict[str, ItemSide], held: dict[str, HeldOutQueries]) -> dict[Ranking, np.ndarray]:
    """Measure all rankings for each held-out query of all sides: reciprocal ranks, or the precision of tags."""
    return {
        (by, scaled): np.concatenate(
            [measure_ranking(replace(side, by=by, scaled=scaled), held[name]) for name, side in sides.items()]
        )
        for by, scaled in RANKINGS
    }


def measure_ranking(side: ItemSide, held: HeldOutQueries) -> np.ndarray:
    """Measure one ranking for each query: the precision of tags, otherwise the reciprocal rank."""
    scored = held.score_items(side)
    return scored.find_reciprocal_ranks() if held.has_tag is None else scored.find_precisions(TAGS_JUDGED)


def choose_ranking(rankings: dict[Ranking, np.ndarray], usual: Ranking, may_scale: bool) -> Ranking:
    """Choose the best ranking; the usual one unless another is clearly better.

    Parameters
    ----------
    rankings : dict of (str, bool) to ndarray
        What `measure_rankings` has found.
    usual : (str, bool)
        The ranking without held-out pairs.
    may_scale : bool
        Whether scaling by sqrt(lambda) is open too.
    """
    allowed = [ranking for ranking in rankings if may_scale or ranking[1] == usual[1] or not has_scale(ranking[0])]
    best = max(allowed, key=lambda ranking: rankings[ranking].mean())
    gain = rankings[best] - rankings.get(usual, rankings[usual[0], False])
    if gain.mean() <= CLEAR_STANDARD_ERRORS * gain.std() / np.sqrt(len(gain)):
        return usual
    return best if has_scale(best[0]) else (best[0], usual[1])


def has_scale(by: str) -> bool:
    """Tell whether a ranking depends on the scale of the functions."""
    return (by, True) in RANKINGS


def calibrate_side(side: ItemSide, held: HeldOutQueries, rankings: dict[Ranking, np.ndarray]) -> MatchCalibration:
    """Learn on held-out queries how scores become probabilities.

    Parameters
    ----------
    side : ItemSide
        The items, with the ranking that is used.
    held : HeldOutQueries
        The queries, and what belongs to them.
    rankings : dict of (str, bool) to ndarray
        What `measure_rankings` has found.
    """
    scored = held.score_items(side)
    is_several = held.has_tag is not None
    claim = fit_log_odds(scored, side.by) if is_several else Claim(fit_slope(scored))
    as_given = Claim(1.0, 0.0, is_several)
    # Distances and angles claim nothing before they are calibrated.
    claimed = np.nan if side.by in ("distance", "cosine") else find_first_claims(scored, as_given, side.by).mean()
    return MatchCalibration(
        side.by,
        side.scaled,
        claim.slope,
        claim.intercept,
        float(claimed),
        float(find_first_claims(scored, claim, side.by).mean()),
        float(scored.is_hit.mean()),
        len(held.queries),
        f"precision of the first {TAGS_JUDGED}" if is_several else "mean reciprocal rank",
        {ranking: float(values.mean()) for ranking, values in rankings.items()},
    )


def find_first_claims(scored: ScoredQueries, claim: Claim, by: str) -> np.ndarray:
    """Find the probability that is claimed for the first item found for each query."""
    return np.take_along_axis(to_probabilities(scored.scores, claim, by), scored.find_first(1), axis=1)[:, 0]


def fit_slope(scored: ScoredQueries) -> float:
    """Find the slope by which the first items found are right as often as claimed: the largest likelihood.

    The likelihood is that of the first item only. That of the right item would be ruled by the few queries whose right
    item comes far behind, and the first items would claim too little.
    """
    # exp(slope * (s - max)): the probability of the first item is 1 / their sum.
    behind = scored.scores - scored.scores.max(axis=1, keepdims=True)
    targets = smooth_targets(scored.is_hit)

    def measure_loss(log_slope: float) -> float:
        claimed = np.clip(1 / np.exp(np.exp(log_slope) * behind).sum(axis=1), 1e-12, 1 - 1e-12)
        return float(-(targets * np.log(claimed) + (1 - targets) * np.log1p(-claimed)).mean())

    best = int(np.argmin([measure_loss(log_slope) for log_slope in LOG_SLOPES]))
    bounds = LOG_SLOPES[max(best - 1, 0)], LOG_SLOPES[min(best + 1, len(LOG_SLOPES) - 1)]
    return float(np.exp(minimize_scalar(measure_loss, bounds=bounds, method="bounded").x))


def fit_log_odds(scored: ScoredQueries, by: str) -> Claim:
    """Fit the log odds that each of the first tags found is right, as a line in their log odds of the score."""
    first = scored.find_first(TAGS_CALIBRATED)
    odds = np.take_along_axis(to_log_odds(scored.scores, by), first, axis=1).ravel()
    targets = smooth_targets(np.take_along_axis(scored.is_right, first, axis=1).ravel())
    # In units of their spread, so that the search is as quick for distances as for logarithms.
    centre, scale = odds.mean(), odds.std() or 1.0

    def measure_loss(parameters: np.ndarray) -> float:
        z = np.exp(parameters[0]) * (odds - centre) / scale + parameters[1]
        return float((np.logaddexp(0, z) - targets * z).mean())

    slope, intercept = minimize(measure_loss, [0.0, 0.0], method="Nelder-Mead").x
    slope = np.exp(slope) / scale
    return Claim(float(slope), float(intercept - slope * centre), is_several=True)


def smooth_targets(is_right: np.ndarray) -> np.ndarray:
    """Return targets slightly inside of 0 and 1 (Platt, 1999), so that a few pairs do not claim certainty."""
    hits = is_right.sum()
    return np.where(is_right, (hits + 1) / (hits + 2), 1 / (len(is_right) - hits + 2))


# --- files


def pack_calibration(calibration: dict[str, MatchCalibration]) -> dict[str, Any]:
    """Pack what was learned as JSON; what is no number becomes null."""
    packed: dict[str, Any] = {}
    for name, learned in calibration.items():
        values = {field.name: getattr(learned, field.name) for field in fields(learned)}
        values["claimed"] = None if np.isnan(learned.claimed) else learned.claimed
        values["rankings"] = [[by, scaled, value] for (by, scaled), value in learned.rankings.items()]
        packed[name] = values
    return packed


def read_calibration(packed: dict[str, Any], has_items: bool) -> dict[str, MatchCalibration]:
    """Read what `pack_calibration` has packed; anything else is an error."""
    found, known = {}, ("tags", "items") if has_items else ("tags",)
    for name, values in packed.items():
        rankings = {(str(by), bool(scaled)): float(value) for by, scaled, value in values["rankings"]}
        claimed = np.nan if values["claimed"] is None else float(values["claimed"])
        learned = MatchCalibration(**values | {"rankings": rankings, "claimed": claimed})
        if name not in known or not np.isfinite([float(learned.slope), float(learned.intercept)]).all():
            raise TypeError("A calibration must be one of tags or of items, with finite numbers.")
        found[name] = learned
    return found
