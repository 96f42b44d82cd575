"""What can be done with a constrained analysis: identities, new rows, saving, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import correspondence as co
from tests.estimators.constrained.reference import assert_near, fit_model, load_data

dune, environment = load_data()
env = environment[["A1", "Management"]]
partial = {"constraints": environment[["A1"]], "given": environment[["Management"]]}


def draw_table(seed, n=9, m=6, p=2, q=0):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(1.0, 4.0, size=(n, m))) + (rng.random((n, m)) < 0.2) + np.eye(n, m)
    counts[:, 0] += 1
    return counts, rng.normal(size=(n, p)), rng.normal(size=(n, q)) if q else None


tables = settings(max_examples=25, deadline=None)


@tables
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 3))
def test_the_parts_sum_to_the_inertia_and_the_axes_to_their_parts(seed, p, q):
    counts, X, Z = draw_table(seed, p=p, q=q)
    ca = co.CA().fit(counts, constraints=X, given=Z)
    parts, whole = ca.partition_, co.CA().fit(counts)
    assert parts.total == pytest.approx(whole.pics_.sum())
    assert parts.conditioned + parts.constrained + parts.unconstrained == pytest.approx(parts.total)
    assert ca.pics_.sum() == pytest.approx(parts.constrained)
    assert ca.unconstrained_.pics.sum() == pytest.approx(parts.unconstrained)
    assert sum(parts.shares.values()) == pytest.approx(1)
    if Z is not None:
        assert parts.conditioned == pytest.approx(co.CA().fit(counts, constraints=Z).partition_.constrained)
        both = co.CA().fit(counts, constraints=np.hstack([Z, X])).partition_
        assert parts.conditioned + parts.constrained == pytest.approx(both.constrained)


@tables
@given(st.integers(0, 10**6), st.integers(0, 2))
def test_scores_are_linear_combinations_of_variance_one_and_averages_of_each_other(seed, q):
    counts, X, Z = draw_table(seed, q=q)
    ca = co.CA().fit(counts, constraints=X, given=Z)
    d, s = len(ca.pics_), ca.correlations_
    lc, wa, sp = (ca.scores(display, "none").values[:, :d] for display in ("lc", "wa", "sp"))
    r, c = ca.rows_.mass, ca.columns_.mass
    np.testing.assert_allclose(lc.T @ (r[:, None] * lc), np.eye(d), atol=1e-9)
    np.testing.assert_allclose(sp.T @ (c[:, None] * sp), np.eye(d), atol=1e-9)
    # The species lie at the averages of the sites where the constraints put them.
    np.testing.assert_allclose((counts / counts.sum(axis=0)).T @ lc / s, sp, atol=1e-8)
    if Z is None:
        np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True) @ sp / s, wa, atol=1e-8)
    both = X if Z is None else np.hstack([Z, X])
    fitted = np.column_stack([np.ones(len(both)), both])
    np.testing.assert_allclose(fitted @ np.linalg.lstsq(fitted, lc, rcond=None)[0], lc, atol=1e-8)
    np.testing.assert_allclose(ca.axis_correlations_, [np.corrcoef(a, b)[0, 1] for a, b in _uncorrected(wa, lc, r)])


def _uncorrected(wa, lc, r):
    """Multiply by the roots of the weights, so that plain correlations of centred columns are weighted ones."""
    for a, b in zip(wa.T, lc.T, strict=True):
        a, b = ((v - r @ v) * np.sqrt(r) for v in (a, b))
        yield np.concatenate([a, -a]), np.concatenate([b, -b])


@tables
@given(st.integers(0, 10**6))
def test_shuffling_scaling_and_repeating_change_nothing(seed):
    counts, X, _ = draw_table(seed)
    ca = co.CA().fit(counts, constraints=X)
    order = np.random.default_rng(seed).permutation(len(counts))
    other = co.CA().fit(counts[order], constraints=-3 * X[order] + 5)
    assert_near(other.pics_, ca.pics_)
    np.testing.assert_allclose(np.abs(other.scores("wa").values), np.abs(ca.scores("wa").values[order]), atol=1e-7)
    # Sites twice as large, or split into halves of the same profile, are the same inertia.
    assert_near(co.CA().fit(np.vstack([counts, counts]), constraints=np.vstack([X, X])).pics_, ca.pics_)


def test_the_levels_of_one_category_are_the_rows_of_their_summed_table():
    ca = co.CA().fit(dune, constraints=env[["Management"]])
    summed = co.CA().fit(dune.groupby(env["Management"]).sum())
    assert_near(ca.pics_, summed.pics_)
    np.testing.assert_allclose(
        np.abs(ca.scores("cn", "sites").values[:, :3]), np.abs(summed.rows_.principal), atol=1e-9
    )


def test_new_rows_lie_where_their_constraints_put_them():
    ca, other = fit_model("dune_cca"), fit_model("dune_pcca")
    assert_near(ca.transform(env[::-1]), ca.rows_.standard[::-1])
    assert_near(ca.transform(env.to_numpy()[:3]), ca.rows_.standard[:3])
    wanted = other.rows_.standard
    assert_near(other.transform(partial["constraints"], given=partial["given"]), wanted)
    assert_near(other.transform(environment), wanted)  # one frame that has both
    with pytest.raises(ValueError, match="given"):
        other.transform(partial["constraints"])
    with pytest.raises(ValueError, match="given"):
        other.transform(partial["constraints"], given=partial["given"][:3])
    with pytest.raises(ValueError, match="given must be None"):
        ca.transform(env, given=env)
    with pytest.raises(ValueError, match="lacks Management"):
        ca.transform(env[["A1"]])


def test_unknown_levels_and_gaps_of_new_rows():
    new = pd.DataFrame({"A1": [3.0, 4.0], "Management": ["XX", "BF"]})
    known = fit_model("dune_cca").transform(new.assign(Management="BF"))
    with pytest.raises(ValueError, match=r"Management.*'XX'.*handle_unknown"):
        fit_model("dune_cca").transform(new)
    for policy, first in (("nan", np.full(4, np.nan)), ("missing", None)):
        found = co.CA(handle_unknown=policy).fit(dune, constraints=env).transform(new)
        np.testing.assert_allclose(found[1], known[1])
        if first is not None:
            np.testing.assert_array_equal(found[0], first)
    # Without a level of its own a missing value is the average of the fit.
    average = fit_model("dune_cca").transform(new.assign(A1=np.nan, Management=None))
    np.testing.assert_allclose(average, 0, atol=1e-12)


@pytest.mark.parametrize("options", [{"constraints": env}, partial, {"given": env}])
@pytest.mark.parametrize("smooth", [False, True])
def test_saved_and_loaded_functions_are_the_same(tmp_path, options, smooth):
    ca = co.CA(constraints="smooth" if smooth else "linear").fit(dune, **options)
    path = ca.decomposition_.save(tmp_path / "model")
    d = co.load(tmp_path / "model" if path is None else path)
    assert_near(d.pics, ca.pics_)
    assert_near(d.g(list(dune.columns)), ca.columns_.standard)
    found = d.f(environment) if "constraints" in options else d.f(list(dune.index))
    assert_near(found, ca.rows_.standard)
    again = pickle.loads(pickle.dumps(ca))
    assert_near(again.scores("wa").values, ca.scores("wa").values)
    assert repr(again.anova(n_permutations=9)) == repr(ca.anova(n_permutations=9)) if "constraints" in options else True


def test_loaded_partial_functions_say_what_they_need(tmp_path):
    d = fit_model("dune_pcca").decomposition_
    ratio = d.density_ratio(environment[:2], ["Achimill", "Agrostol"])
    assert ratio.shape == (2,)
    with pytest.raises(ValueError, match="given"):
        d.density_ratio(environment[["A1"]][:2], ["Achimill", "Agrostol"])
    assert d.f.truncate(1)(environment).shape == (20, 1)


def test_clones_fit_transform_and_output():
    ca = clone(co.CA(constraints="smooth", n_components=1))
    assert ca.get_params()["constraints"] == "smooth"
    wanted = fit_model("dune_cca").rows_.standard
    assert_near(co.CA().fit_transform(dune, constraints=env[::-1]), wanted)
    frame = co.CA().set_output(transform="pandas").fit_transform(dune, constraints=env)
    assert list(frame.columns) == ["f1", "f2", "f3", "f4"]
    assert co.CA(2).fit_transform(dune).shape == (20, 2)


def test_fewer_components_are_the_first_ones():
    ca, few = fit_model("dune_cca"), co.CA(2).fit(dune, constraints=env)
    assert_near(few.pics_, ca.pics_[:2])
    assert few.scores().axes == ("CCA1", "CCA2", "CA1", "CA2")
    assert few.partition_.constrained == pytest.approx(ca.partition_.constrained)
    assert_near(few.scores("sp").values, ca.scores("sp").values[:, [0, 1, 4, 5]])
    assert few.anova("axis", 9).terms.tolist() == ["CCA1", "CCA2", "CCA3", "CCA4", "Residual"]


def test_other_rows_columns_and_variables_are_placed():
    ca = fit_model("dune_cca")
    assert_near(ca.supplementary(rows=dune[:3]).principal, ca.scores("wa", "sites").values[:3, :4])
    assert_near(ca.supplementary(columns=dune).principal, ca.columns_.principal)
    numbers = ca.supplementary(numbers=env[["A1"]]).correlations
    assert_near(numbers, ca.scores("bp", "none").values[:1, :4])
    categories = ca.supplementary(categories=env["Management"]).principal
    assert_near(categories, ca.scores("cn", "sites").values[:, :4])


def test_rows_have_no_place_without_their_conditions():
    for ca in (fit_model("dune_pcca"), co.CA().fit(dune, given=env)):
        assert_near(ca.supplementary(columns=dune).principal, ca.columns_.principal)
        for options in ({"rows": dune[:3]}, {"categories": env["Management"]}):
            with pytest.raises(ValueError, match=f"{next(iter(options))} .*conditions"):
                ca.supplementary(**options)
    with pytest.raises(ValueError, match=r"X .*conditions"):
        ca.transform(dune)


def test_evaluation_of_other_rows():
    known = dune.columns[dune[:14].any()]
    ca = co.CA(2, handle_unknown="missing").fit(dune.loc[:14, known], constraints=env[:14])
    new = ca.evaluate(dune[14:], constraints=env[14:])
    assert new.n == dune[14:].to_numpy().sum()
    assert new.captured < 1
    shuffled = ca.evaluate(dune[14:].iloc[:, ::-1].assign(new=3), constraints=env[14:][::-1])  # found by name
    assert shuffled.captured == pytest.approx(ca.evaluate(dune[14:].assign(new=3), constraints=env[14:]).captured)
    assert ca.score(dune[14:], constraints=env[14:]) == new.captured
    with pytest.raises(ValueError, match="constraints must be those of the rows"):
        ca.evaluate(dune)
    with pytest.raises(ValueError, match="given must be None"):
        ca.evaluate(dune, constraints=env, given=env)
    with pytest.raises(ValueError, match="given must be the conditions"):
        fit_model("dune_pcca").evaluate(dune, constraints=env)
    with pytest.raises(ValueError, match="X must have the 27 columns"):
        ca.evaluate(dune.to_numpy()[:, :5], constraints=env)
    with pytest.raises(ValueError, match="constraints and given must be None"):
        co.CA().fit(dune).evaluate(dune, constraints=env)
    with pytest.raises(ValueError, match="conditions alone"):
        co.CA().fit(dune, given=env).evaluate(dune)


def test_what_would_forget_the_constraints_is_refused():
    ca = fit_model("dune_cca")
    for use in (co.latent_dimension, co.permutation_test, co.crossfit):
        with pytest.raises(ValueError, match=r"est .*constraints"):
            use(ca, dune)
    with pytest.raises(ValueError, match=r"bootstrap .*constraints"):
        ca.bootstrap(5)
    with pytest.raises(ValueError, match=r"est .*constraints"):
        co.describe_axes(ca, environment)
    with pytest.raises(ValueError, match=r"ca .*constraints.*anova"):
        co.axis_tests(ca)


@pytest.mark.slow
def test_sites_are_clustered_where_the_constraints_put_them():
    clusters = co.Clusters(n_clusters=4).fit(co.CA().fit(dune, constraints=env[["Management"]]))
    found = pd.crosstab(clusters.labels_, env["Management"].to_numpy())
    assert (found > 0).to_numpy().sum() == 4  # one cluster for each level
