"""What constraints explain, in sentences: figures, tests, and with what the axes go."""

from types import SimpleNamespace

import numpy as np
import pytest

import correspondence as co
from correspondence.describe.constraints import measure_constraints, write_constraint_sentences

dune, environment = co.datasets.load_dune()
NAMES = ("A1", "Moisture", "Management")


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(dune, constraints=environment.select(NAMES))


def test_the_first_sentence_says_how_much_is_explained(ca):
    (first, *_) = write_constraint_sentences(ca)
    assert first.startswith("A1, Moisture and Management explain 53.9 % of the inertia (adjusted 27.1 %)")
    partial = co.CA().fit(dune, constraints=environment.select("A1"), given=environment.select("Management"))
    (first, *_) = write_constraint_sentences(partial, [partial.anova(n_permutations=99)])
    share, given = (100 * partial.partition_.shares[part] for part in ("constrained", "conditioned"))
    assert f"A1 explains {share:.1f} %" in first
    assert f"beyond the {given:.1f} % of what is given" in first
    assert "more than chance (p = " in first
    assert len(write_constraint_sentences(co.CA().fit(dune, given=environment.select("A1")))) == 1


def test_the_larger_of_both_pvalues_decides(ca):
    anova = ca.anova("axis", 999)
    assert "Two of seven constrained axes are more than chance." in write_constraint_sentences(ca, [anova])
    anova.site_pvalues.flags.writeable = True
    anova.site_pvalues[1] = 0.5
    assert "One of seven constrained axes is more than chance." in write_constraint_sentences(ca, [anova])


def test_terms_that_are_clear_and_those_that_are_not(ca):
    anova = ca.anova("margin", 999)
    sentence = write_constraint_sentences(ca, [anova])[-1]
    assert sentence.startswith("After all others, Management (p = ")
    assert sentence.endswith("for A1 and Moisture that is not clear.")
    anova.pvalues.flags.writeable = True
    anova.pvalues[:] = 0.5
    assert "no constraint explains clearly more" in write_constraint_sentences(ca, [anova])[-1]


def test_what_held_out_rows_say_is_compared_with_as_many_axes_of_the_fit(ca):
    def write(n, captured):
        evidence = SimpleNamespace(captured=captured, correlations=np.zeros(n))
        return write_constraint_sentences(ca, (), SimpleNamespace(evidence=evidence))[-1]

    assert write(2, 0.2) == (
        f"On held-out rows the first two axes capture 0.2 of the inertia, in the fit {ca.pics_[:2].sum():.3g}."
    )
    assert "the first axis captures" in write(1, 0.2)
    assert f"the axes capture -0.1 of the inertia, in the fit {ca.pics_.sum():.3g}: do not trust" in write(7, -0.1)


def test_strengths_are_correlations_or_multiple_ones(ca):
    strengths = measure_constraints(ca)
    assert {name: kind for name, (kind, _) in strengths.items()} == {
        "A1": "number",
        "Moisture": "category",
        "Management": "category",
    }
    np.testing.assert_allclose(strengths["A1"][1], ca.scores("bp", "none").values[0, :7], atol=1e-12)
    centroids, mass = ca.scores("cn", "none"), ca.rows_.mass
    own = [label.startswith("Management") for label in centroids.labels]
    levels = environment["Management"].to_numpy()
    weights = [mass[levels == label.removeprefix("Management")].sum() for label in centroids.labels[own]]
    np.testing.assert_allclose(strengths["Management"][1] ** 2, weights @ centroids.values[own][:, :7] ** 2, atol=1e-12)


def test_constraints_that_are_left_out_go_with_nothing():
    with pytest.warns(co.LeftOut):
        ca = co.CA().fit(dune, constraints={"A1": environment["A1"], "c": np.ones(20), "again": environment["A1"]})
    strengths = measure_constraints(ca)
    assert strengths["c"][1] == 0
    np.testing.assert_allclose(strengths["again"][1], strengths["A1"][1])


def test_names_that_begin_alike_are_not_mixed_up():
    use, rng = np.repeat(["x", "y"], 10), np.random.default_rng(0)
    constraints = {"Man": use, "Management": environment["Management"], "M": rng.normal(size=20)}
    ca = co.CA().fit(dune, constraints=constraints)
    alone = {name: measure_constraints(ca)[name][1] for name in constraints}
    renamed = co.CA().fit(dune, constraints=dict(zip(("a", "b", "c"), constraints.values(), strict=True)))
    for one, other in zip(alone.values(), measure_constraints(renamed).values(), strict=True):
        np.testing.assert_allclose(np.abs(one), np.abs(other[1]), atol=1e-9)


@pytest.mark.filterwarnings("ignore::correspondence.LeftOut")  # the last three constraints
def test_constraints_that_explain_everything_cannot_be_tested():
    table = np.random.default_rng(0).poisson(9, (5, 6))
    ca = co.CA().fit(table, constraints=np.random.default_rng(1).normal(size=(5, 7)))
    sentences = write_constraint_sentences(ca, [ca.anova(by=by, n_permutations=19) for by in (None, "margin", "axis")])
    assert sum("nothing left to test" in sentence for sentence in sentences) == 1
    assert not any("more than chance" in sentence for sentence in sentences)
