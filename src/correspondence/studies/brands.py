"""Brands and traits: the paper's introductory example of correspondence analysis."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import correspondence as co
from correspondence.studies import markdown as md
from correspondence.studies.report import Exhibit, Line, Report, draw_alone
from correspondence.studies.runs import Settings

__all__ = ["run_study"]

BRAND_NAMES = (
    "Porsche",
    "Mercedes",
    "IBM computers",
    "Apple computers",
    "Sony televisions",
    "Nike athletic shoes",
    "Levi's jeans",
    "Visa",
    "Qantas",
    "Toyota",
    "McDonald's",
    "Lego",
    "Arnott's",
    "Colgate toothpaste",
    "Campbell's soup",
)
"""15 of 42, among them all that the paper names; which others it drew, it does not say."""
N_RESPONDENTS = 3173

ERRATA_SECTION = """\
## What it corrects

- The paper reads "Mercedes and Arnott's are upper class" off its picture. In a symmetric map the distance of a brand
  from a trait means nothing; the density ratio above does: it is how many times more often than by chance a
  trait goes to a brand.
- Its picture is of 15 brands drawn at random, without saying which; with others the plane is another."""


def run_study(settings: Settings) -> Report:
    """Analyse 15 brands, and place the other 27 as supplementary rows."""
    table = co.datasets.fetch_brands()
    chosen = np.array([int(np.flatnonzero(table.rows == brand)[0]) for brand in BRAND_NAMES])
    others = np.setdiff1d(np.arange(len(table.rows)), chosen)
    ca = co.CA().fit(_take_rows(table, chosen))
    caption = (
        f"*Symmetric map, with 95 % ellipses for {N_RESPONDENTS} answers. Brands may be compared with brands and "
        "traits with traits.*"
    )
    sections = [
        f"{len(BRAND_NAMES)} brands x {len(table.columns)} traits: the share of {N_RESPONDENTS} Australians who gave "
        "the trait to the brand (2005).",
        md.show_picture("Brands and traits in the first factoring plane", "brands.png", caption),
        _make_axis_table(ca),
        check_claims(ca),
        make_ratio_table(ca),
        ERRATA_SECTION,
    ]
    ellipses = ca.bootstrap(n=round(ca.decomposition_.n * N_RESPONDENTS), random_state=0, progress=False)
    more = ca.supplementary(rows=_take_rows(table, others))
    plane = partial(draw_alone, co.plot.plane, (10, 8), ca, names=("brand", "trait"))
    figures = {"": plane(ellipses=ellipses), "-others": plane(supplementary=more, labels="columns")}
    return Report(make_csv_rows(ca), sections, figures, exhibits=[make_exhibit(ca)])


def make_exhibit(ca: co.CA) -> Exhibit:
    ratios = [f"{100 * ratio:.1f} %" for ratio in ca.decomposition_.inertia_ratios[:2]]
    upper = _find_upper_class_ratios(ca)
    lines = [
        Line("share of the first factor in the total inertia", "31.7 %", ratios[0]),
        Line("share of the second factor in the total inertia", "23.2 %", ratios[1]),
        *(
            Line(f"upper class and {brand}: times as frequent as on average", '"upper-class"', ratio)
            for brand, ratio in upper.items()
        ),
    ]
    sentence = (
        "The paper drew 15 of the brands and does not say which, so its shares cannot be met; ours are of all answers, "
        "with nothing held out. Of what it reads off its map, Mercedes is upper class, Arnott's is not."
        if upper["Mercedes"] > 1 > upper["Arnott's"]
        else "The paper drew 15 of the brands and does not say which, so its shares cannot be met."
    )
    return Exhibit("Figure 1: brands and traits", lines, sentence, "")


def _find_upper_class_ratios(ca: co.CA) -> dict[str, float]:
    brands = ["Mercedes", "Arnott's"]
    ratios = ca.decomposition_.density_ratio(brands, ["Upper class"] * len(brands))
    return dict(zip(brands, map(float, ratios), strict=True))


def _take_rows(table: co.Table, rows: np.ndarray) -> co.Table:
    return co.Table(np.asarray(table.counts)[rows], table.rows[rows], table.columns)


def make_csv_rows(ca: co.CA) -> list[dict[str, Any]]:
    return [
        {
            "side": side,
            "label": str(label),
            "mass": points.mass[i],
            "axis_1": points.principal[i, 0],
            "axis_2": points.principal[i, 1],
            "cos2_of_the_plane": points.cos2[i, :2].sum(),
        }
        for side, points in (("brand", ca.rows_), ("trait", ca.columns_))
        for i, label in enumerate(points.labels)
    ]


def _make_axis_table(ca: co.CA) -> str:
    header = ["axis", "PIC", "% of inertia", "brands", "traits"]
    d = ca.decomposition_
    lines = [
        [
            i + 1,
            d.pics[i],
            f"{100 * d.inertia_ratios[i]:.1f}",
            *(_list_ends(side, i) for side in (ca.rows_, ca.columns_)),
        ]
        for i in range(3)
    ]
    return md.make_section("What the axes separate", md.make_table(header, lines))


def _list_ends(points: co.Points, axis: int) -> str:
    order = points.labels[np.argsort(points.principal[:, axis])]
    return f"{', '.join(order[:2])} ... {', '.join(order[::-1][:2])}"


def check_claims(ca: co.CA) -> str:
    """Give numbers for what the paper reads off its picture."""
    traits = ca.columns_
    distance = dict(zip(traits.labels, np.linalg.norm(traits.principal[:, :2], axis=1), strict=True))
    order = sorted(distance, key=distance.__getitem__)
    ratio = ca.decomposition_.density_ratio(["Porsche"], traits.labels, pairwise=True)[0]
    strongest = traits.labels[np.argsort(-ratio)][:4]
    mercedes, arnotts = _find_upper_class_ratios(ca).values()
    return md.make_section(
        "The paper's reading, checked",
        f"- Mercedes and Arnott's as upper class: of all traits given to Mercedes, upper class is {mercedes:.1f} "
        f"times as frequent as on average, for Arnott's {arnotts:.1f} times.\n"
        f'- "Porsche goes with upper class, daring, spirited and cheerful": its strongest traits are '
        f"{', '.join(strongest)}.\n"
        f'- "Successful and wholesome do not tell brands apart": from the origin outward the traits are '
        f"{', '.join(order[:4])}, ... {', '.join(order[-4:])}; successful is number "
        f"{order.index('Successful') + 1} and wholesome number {order.index('Wholesome') + 1} of {len(order)}.",
    )


def make_ratio_table(ca: co.CA) -> str:
    table = ca.decomposition_.density_ratio(ca.rows_.labels, ca.columns_.labels, pairwise=True)
    lines = []
    for brand, row in zip(ca.rows_.labels, table, strict=True):
        order = np.argsort(-row)
        most = ", ".join(f"{ca.columns_.labels[i]} {row[i]:.2f}" for i in order[:3])
        least = ", ".join(f"{ca.columns_.labels[i]} {row[i]:.2f}" for i in order[::-1][:2])
        lines.append([brand, most, least])
    ratios = md.make_table(["brand", "most above chance", "most below"], lines)
    return md.make_section("Each brand in words", "Density ratios p(x, y) / (p(x) p(y)).", ratios)
