"""The page of a constrained analysis: sites, species and constraints in one plane, and how much is explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from correspondence._util.text import short_repr
from correspondence.core.decomposition import as_decomposition
from correspondence.describe.axis_words import AxisWords, find_axis_words
from correspondence.describe.constraints import measure_constraints, write_constraint_sentences
from correspondence.page.clouds import Cloud, add_data, limit_columns
from correspondence.page.column_marks import MAX_AXES_LISTED, StructureRow, pack_number_marks
from correspondence.page.data_columns import MAX_COLUMNS_SHOWN, make_column, to_texts
from correspondence.page.filling import list_paragraphs, render_page
from correspondence.page.making import Making
from correspondence.page.packing import lay_out_scree, pack_arrays, shorten_mantissas
from correspondence.page.payload import N_COLOURS, collect_arrays, count_axes, describe_cloud
from correspondence.results.anova import Anova
from correspondence.results.evidence import Component, list_components
from correspondence.scene.colours import list_variable_colours
from correspondence.scene.column_marks import NumberMark
from correspondence.scene.groups import Grouping, read_groups
from correspondence.scene.points import ScenePoints, check_names, list_maps
from correspondence.scene.triplot import Triplot, make_triplot

__all__ = ["check_tests", "render_triplot_page"]

MAX_NAMED_SITES = 300
MAX_PVALUE_IN_WORDS = 0.05
TEST_TITLES = {
    None: "All constraints together",
    "term": "Constraints one after the other",
    "margin": "Each constraint after all others",
    "axis": "Axes one after the other",
}


def check_tests(tests: Any) -> list[Anova]:
    """Return the tests of a constrained analysis as a list."""
    found = [] if tests is None else [tests] if isinstance(tests, Anova) else tests
    if not isinstance(found, Sequence) or not all(isinstance(test, Anova) for test in found):
        raise TypeError(f"tests must be what anova of a CA with constraints returned, got {short_repr(tests)}.")
    return list(found)


def render_triplot_page(
    ca: Any,
    *,
    made: Making,
    held_out: Any,
    tests: Any,
    groups: Any,
    data: Any,
    names: Sequence[str] | None,
    title: str,
    about: Sequence[str] | None,
    words: Sequence[AxisWords] | None,
    max_points: int,
) -> str:
    """Render the page of a constrained analysis; the parameters are those of `explore`."""
    called = check_names(("sites", "species") if names is None else names)
    scene, anovas = make_triplot(ca), check_tests(tests)
    evidence = None if held_out is None else held_out.evidence
    clouds = limit_columns(add_data(make_triplot_clouds(scene, called, max_points), data))
    grouping = None if groups is None else read_groups(groups, clouds[0].points.given, ca)
    if grouping is not None:
        clouds[0] = replace(clouds[0], classes=grouping.codes[clouds[0].points.rows].astype(np.int16))
    rows = list_triplot_components(ca, scene, evidence)
    content = describe_triplot(ca, scene, anovas, held_out)
    words = find_triplot_words(ca, scene) if words is None else words
    pvalues = [max(axis["pvalue"] or 0, axis["site_pvalue"] or 0) for axis in content["axes"][: len(words)]]
    n_read = next((i for i, pvalue in enumerate(pvalues) if pvalue > MAX_PVALUE_IN_WORDS), len(words))
    return render_page(
        made=made,
        title=str(title),
        about=write_constraint_sentences(ca, anovas, held_out) if about is None else list_paragraphs(about),
        level=None,
        facts=list_triplot_facts(ca, clouds),
        names=called,
        rows=rows,
        scree=lay_out_scree(rows),
        words=[axis.complete_words(called[:2]) for axis in words],
        n_read=n_read,
        structure=list_constraints(ca),
        has_frames=False,
        data=pack_triplot(scene, clouds, rows, called, grouping) if rows else "",
        fitted="training",
        triplot=content,
    )


def make_triplot_clouds(scene: Triplot, names: tuple[str, ...], most: int) -> list[Cloud]:
    """Make the points of sites, of species and of categories."""
    sites, species = scene.sites["wa"], scene.species
    sites, species = _take_heaviest(sites, most), _take_heaviest(species, most)
    linear = _take_rows(scene.sites["lc"], sites.rows)
    assert linear.mass is not None
    columns = [make_column(name, own[sites.rows]) for name, own in scene.values.items()][:MAX_COLUMNS_SHOWN]
    clouds = [
        Cloud(
            "x",
            names[0],
            sites,
            to_texts(sites.labels),
            len(sites) <= MAX_NAMED_SITES,
            columns,
            contributions=linear.mass[:, None] * linear.places**2,
        ),
        Cloud("y", names[1], species, to_texts(species.labels), True),
    ]
    if len(scene.categories):
        n = len(scene.categories)
        points = ScenePoints(scene.centroids, scene.categories, None, np.arange(n), n, n)
        columns = [make_column("constraint", np.array(scene.terms, dtype=object))]
        texts = to_texts([f"{term}: {answer}" for term, answer in zip(scene.terms, scene.answers, strict=True)])
        clouds.append(Cloud("xc", "categories", points, texts, True, columns))
    return clouds


def _take_heaviest(points: ScenePoints, most: int) -> ScenePoints:
    """Return the points that have most weight in the axes, if there are more than can be shown."""
    assert points.mass is not None
    order = np.argsort(-(points.mass * (points.places**2).sum(axis=1)), kind="stable")
    return _take_rows(points, np.sort(points.rows[order[:most]]))


def _take_rows(points: ScenePoints, rows: np.ndarray) -> ScenePoints:
    """Return the points of some rows of the table."""
    kept = np.flatnonzero(np.isin(points.rows, rows))
    labels, mass = (None if values is None else values[kept] for values in (points.labels, points.mass))
    return replace(points, places=points.places[kept], labels=labels, mass=mass, rows=points.rows[kept])


def list_triplot_components(ca: Any, scene: Triplot, evidence: Any) -> list[Component]:
    """List the constrained axes with what is known of them on held-out sites, and then the others."""
    rows = list_components(as_decomposition(ca), evidence)
    shares = (scene.pics / (scene.total or np.inf)).tolist()
    rows = [replace(row, share=share) for row, share in zip(rows, shares, strict=False)]
    return rows + [
        Component(component=i + 1, pic=float(scene.pics[i]), training=float(scene.correlations[i]), share=shares[i])
        for i in range(len(rows), len(scene.pics))
    ]


def describe_triplot(ca: Any, scene: Triplot, tests: Sequence[Anova], held_out: Any) -> dict[str, Any]:
    """Describe the partition of the inertia, the axes and the tests as plain values."""
    shown = list_tests(tests)
    of_axes = {row["term"]: row for test in shown for row in test["rows"]}
    partition, free = ca.partition_, float(scene.pics[scene.n_constrained :].sum())
    parts = [
        ("total", 1.0, ""),
        *((part, share, ca.partition_.ranks[part]) for part, share in partition.shares.items()),
    ]
    axes = []
    for i, name in enumerate(scene.axes):
        part = free if i >= scene.n_constrained else scene.constrained
        axes.append(
            {
                "name": name,
                "pic": float(scene.pics[i]),
                "share": float(scene.pics[i] / (scene.total or np.inf)),
                "own_share": float(scene.pics[i] / (part or np.inf)),
                "correlation": float(ca.axis_correlations_[i]) if i < scene.n_constrained else None,
                "pvalue": of_axes.get(name, {}).get("pvalue"),
                "site_pvalue": of_axes.get(name, {}).get("site_pvalue"),
            }
        )
    adjusted = float(ca.adjusted_r2_)
    return {
        "partition": [
            {"name": part, "inertia": float(getattr(partition, part)), "share": float(share), "rank": rank}
            for part, share, rank in parts
            if part != "conditioned" or rank
        ],
        "adjusted": adjusted if np.isfinite(adjusted) else None,
        "held_out": describe_held_out(held_out),
        "axes": axes,
        "tests": [test for test in shown if test["title"] != TEST_TITLES["axis"]],  # which stand beside the axes
        "has_pvalues": any(axis["pvalue"] is not None for axis in axes),
    }


def describe_held_out(held_out: Any) -> str:
    """Say what the constraints predict of held-out sites."""
    captured = None if held_out is None else held_out.evidence.captured
    if captured is None:
        return ""
    return f"Captured of sites held out: {captured:.4g}."


def list_tests(tests: Sequence[Anova]) -> list[dict[str, Any]]:
    """List the rows of tests as plain values."""
    listed: list[dict[str, Any]] = []
    for test in tests:
        columns = {name: values.tolist() for name, values in test._collect_columns().items()}
        rows = [dict(zip(columns, map(_to_plain, row), strict=True)) for row in zip(*columns.values(), strict=True)]
        listed.append({"title": TEST_TITLES[test.by], "rows": rows})
    return listed


def _to_plain(value: Any) -> Any:
    """Return None for a number that is not known."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def list_triplot_facts(ca: Any, clouds: Sequence[Cloud]) -> list[tuple[str, str]]:
    """List figures, each with its name."""
    facts = [("total", f"{as_decomposition(ca).n:,.10g}")]
    facts += [cloud.count() for cloud in clouds[:2]]
    return [*facts, ("constraints", f"{len(ca.constraint_terms_):,}"), ("inertia", f"{ca.partition_.total:.4g}")]


def find_triplot_words(ca: Any, scene: Triplot) -> list[AxisWords]:
    """Find words for the constrained axes: species, and the sites by what the constraints say of them."""
    n, sites, species = scene.n_constrained, scene.sites["lc"], scene.species
    x, y = ((points.labels, points.places[:, :n], points.mass) for points in (sites, species))
    return find_axis_words(as_decomposition(ca), x_items=x, y_items=y) if n else []


def list_constraints(ca: Any) -> list[StructureRow]:
    """List how strongly each constraint goes with the first axes, the strongest first."""
    strengths = measure_constraints(ca)
    inflation = {str(name): float(value) for name, value in ca.vif_.items()}
    columns = {str(term): list(map(str, names)) for term, names in ca.constraint_terms_.items()}
    rows = []
    for name in sorted(strengths, key=lambda one: -float(np.abs(strengths[one][1][:MAX_AXES_LISTED]).max(initial=0))):
        kind, values = strengths[name]
        known = [inflation[column] for column in columns[name] if np.isfinite(inflation.get(column, np.nan))]
        texts = [f"{value:.2f}" for value in values[:MAX_AXES_LISTED]]
        cells = ["0.00" if text == "-0.00" else text.replace("-", "\N{MINUS SIGN}") for text in texts]
        noun = "categorie" if kind == "category" else kind  # the page adds an s to this, to number and to curve
        rows.append(StructureRow("constraints", name, noun, f"{max(known):.1f}" if known else "", cells))
    return rows


def pack_triplot(
    scene: Triplot, clouds: list[Cloud], rows: list[Component], names: tuple[str, ...], grouping: Grouping | None
) -> str:
    """Pack everything that the script needs, as `pack_arrays` writes it."""
    kept = count_axes(rows, clouds)
    content: dict[str, Any] = {
        "names": names,
        "kept": kept,
        "axes": [asdict(row) for row in rows[:kept]],
        "axis_names": list(scene.axes[:kept]),
        "titles": [scene.write_axis_title(i) for i in range(kept)],
        "classes": None
        if grouping is None
        else {"names": to_texts(grouping.names), "colours": grouping.colours, "grouped": True},
        "palette": list_variable_colours(N_COLOURS),
        "fitted": "training",
        "triplot": True,
        "by": "posterior",
        "scaled": False,
        "claims": True,
        "learned": None,
        "maps": list_maps(has_mass=True),
        "clouds": [describe_cloud(cloud) for cloud in clouds],
        "joined": [line.tolist() for line in scene.lines],
    }
    arrays = collect_arrays(kept, clouds)
    linear = _take_rows(scene.sites["lc"], clouds[0].points.rows)
    arrays["0.linear"] = shorten_mantissas(linear.places[:, :kept])
    d = len(scene.axes)
    marks = [
        NumberMark(str(name), 0, arrow, np.zeros(d, bool), np.empty((0, d)), np.empty(0), arrow**2)
        for name, arrow in zip(scene.numbers, scene.arrows, strict=True)
    ]
    marks += [
        NumberMark(name, 0, path[-1], np.abs(path).max(axis=0) > 0, path, np.empty(0), np.var(path, axis=0))
        for name, path in scene.curves.items()
    ]
    more, data = pack_number_marks([("x", mark) for mark in marks], kept)
    return pack_arrays(content | more, arrays | data)
