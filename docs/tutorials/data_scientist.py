"""
Two columns of a data frame
===========================

For anyone with a frame of numbers, labels, or both, who wants to know how two of its columns depend on each other.

A correlation coefficient sees only straight lines. You will find a dependence that it misses, check how much of it is
real, predict with it, look at real wines, and see what happens when there is nothing to find. This page needs pandas:
``pip install pandas``.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import correspondence as co

# %%
# An example with a known answer
# ------------------------------
#
# We make up 1500 thermometer readings. It is coldest at midnight and warmest at noon, but each day the curve is a few
# hours early or late.

rng = np.random.default_rng(0)
hour = rng.uniform(0, 24, 1500)
delay = rng.normal(0, 0.6, 1500)
temperature = 10 - 8 * np.cos(2 * np.pi * hour / 24 + delay)
frame = pd.DataFrame({"hour": hour, "temperature": temperature})

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(frame.hour, frame.temperature, ".", alpha=0.6)
labels = ax.set(xlabel="hour", ylabel="temperature", xticks=[0, 6, 12, 18, 24])

# %%
# Anyone can see the dependence. Pearson's correlation misses it, because what it gains in the morning it loses in the
# evening:

print("Pearson ", round(frame.hour.corr(frame.temperature), 2))
print("Spearman", round(frame.hour.corr(frame.temperature, method="spearman"), 2))

# %%
# ``decompose`` looks for functions f(hour) and g(temperature) that are as strongly correlated as possible, then for a
# second pair that is uncorrelated with the first, and so on.

d = co.decompose(frame[["hour"]], frame["temperature"], verbose=False)
print(d)

# %%
# Read the table first. The **correlation** of the first pair of functions is large. The **PIC** (principal inertia
# component) is its square; do not confuse the two. The **% of inertia** is the component's share of the dependence that
# the method found.
#
# The last line says what was done. It is too long for this page, so we wrap it:

print(textwrap.fill(d.origin, 85))

# %%
# Several methods were fitted and compared by how much of the dependence they **capture** on held-out pairs, and the
# simplest one not clearly behind the best was chosen:
#
# - ``cca`` fits straight lines, and captures nothing here;
# - ``ace`` fits a smooth curve for each column;
# - ``kernel``, ``forest`` and ``pice`` (neural nets) are more flexible, which gains nothing here.
#
# The line also says how many components are more than chance; only those are kept. For these data we know the truth:
# the correlations are exp(-0.18 k\ :sup:`2`). There are infinitely many, and 1500 readings show only the strongest.
# The values found are a little too high, as training values tend to be.

k = np.arange(1, 5)
print("exact correlations", np.exp(-0.18 * k**2).round(2))
print("found             ", d.correlations.round(2))

# %%
# We can draw the functions. The first f is the curve of the day, and the first g is nearly a straight line: warm at
# noon and cold at midnight. The second pair separates the hours in between from both noon and midnight.

hours = pd.DataFrame({"hour": np.linspace(0, 24, 200)})
degrees = np.linspace(2, 18, 200)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(hours, d.f(hours)[:, :2])
left.set(xlabel="hour", ylabel="f", xticks=[0, 6, 12, 18, 24])
right.plot(degrees, d.g(degrees)[:, :2])
right.set(xlabel="temperature", ylabel="g")
legend = right.legend(["first pair", "second pair"])

# %%
# How much of it is real?
# -----------------------
#
# **The correlations of a fit are not evidence.** They were made as large as possible on the same readings. Evaluate
# them on held-out readings:

co.crossfit(co.ACE(n_components=4), frame[["hour"]], frame["temperature"])

# %%
# Five fits were made, each without one fifth of the readings, and evaluated on that fifth. Training values never drop
# to 0; held-out values do, and they are the ones to report, with their intervals. Whether a component exists at all
# is a question for a test:

co.permutation_test(co.ACE(n_components=4), frame[["hour"]], frame["temperature"])

# %%
# A small p-value means "not chance", never "strong". For strength, look at the held-out correlation.
#
# Prediction
# ----------
#
# The same functions give the best prediction of any function of Y from X. Here is the expected temperature at four
# times of day, beside the exact one:

four = pd.DataFrame({"hour": [0.0, 6.0, 12.0, 18.0]})
exact = 10 - 8 * np.exp(-0.18) * np.cos(2 * np.pi * four.hour / 24)
print("expected", d.conditional_expectation(lambda t: t, four).round(1))
print("exact   ", exact.to_numpy().round(1))

# %%
# You can ask for any function of the temperature, such as "is it above 15 degrees?". Its expectation is a
# probability:

d.conditional_expectation(lambda t: t > 15, four).round(2)

# %%
# Real data: wines
# ----------------
#
# We take 178 Italian wines, with their flavanoid content and colour intensity. The Pearson correlation is weak:

from sklearn.datasets import load_wine

wine = load_wine(as_frame=True).frame
wine["grape"] = np.array(["Barolo", "Grignolino", "Barbera"])[wine.pop("target")]
flavanoids, colour = wine[["flavanoids"]], wine["color_intensity"]
print("Pearson", round(wine.flavanoids.corr(colour), 2))
print(co.compare(flavanoids, colour, ["cca", "ace", "kernel"], n_components=2))

# %%
# ``compare`` is the first half of ``decompose``: it runs each method on the same folds and shows held-out
# correlations above the training ones. Curves find a much stronger dependence than the straight line. Where does it
# come from?

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for grape, group in wine.groupby("grape"):
    ax.plot(group.flavanoids, group.color_intensity, ".", label=grape)
labels = ax.set(xlabel="flavanoids", ylabel="colour intensity")
legend = ax.legend()

# %%
# It comes from three kinds of grapes, which the method knew nothing about. Hidden groups like these are a frequent
# cause of nonlinear dependence.
#
# Numbers and labels together
# ---------------------------
#
# Columns may be of any type. Let X be the two measurements and Y the grape, a label. We hold out every third wine for
# evaluation:

is_new = np.arange(len(wine)) % 3 == 0
X, y = wine[["flavanoids", "color_intensity"]], wine["grape"]
est = co.ACE(n_components=2).fit(X[~is_new], y[~is_new])
est.evaluate(X[is_new], y[is_new])

# %%
# Three labels give two components, and both are strong on the held-out wines. The plane shows these wines at f and
# the grapes at g:

ax = co.plot.plane(est, X=X[is_new], classes=y[is_new], names=("wine", "grape"))

# %%
# Wines that lie close together have similar grapes. **Do not interpret the distance between a wine and a grape**;
# compare wines with wines. Or compute the probability of each grape, with the same conditional expectation as above:

new = X[is_new].iloc[[0, 30, -1]]
grapes = np.unique(y)
chances = est.decomposition_.conditional_expectation(
    lambda y: np.asarray(y).reshape(-1, 1) == grapes, new
)
pd.DataFrame(chances, index=y[new.index], columns=grapes).round(2)

# %%
# The index is the true grape. These figures are mean-square approximations and may fall slightly outside 0 to 1.
#
# X may contain labels, too. How much better do colour and grape together predict the flavanoids than colour alone?

ace = co.ACE(n_components=1)
print(co.crossfit(ace, wine[["color_intensity"]], wine["flavanoids"]))
print(co.crossfit(ace, wine[["color_intensity", "grape"]], wine["flavanoids"]))

# %%
# Much better, and the gain holds on held-out wines.
#
# When there is nothing
# ---------------------
#
# If we shuffle one column, all dependence is gone. A good method has to say so:

import warnings

shuffled = rng.permutation(wine["flavanoids"])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    nothing = co.decompose(
        wine[["color_intensity"]], shuffled, method="ace", verbose=False
    )
print(textwrap.fill(str(caught[0].message), 85))
print(nothing)

# %%
# One component is kept so that there is something to look at, and its training correlation is not 0. Without the
# warning and the last line, it would look like a finding.
#
# With your own data
# ------------------
#
# .. code-block:: python
#
#     frame = pd.read_csv("my_data.csv").dropna()
#     X, Y = frame[["age", "city"]], frame["income"]  # one column or several, on each side
#     d = co.decompose(X, Y)  # up to a minute: nets and forests take part
#     print(d, co.crossfit(co.ACE(n_components=3), X, Y))
#     d.conditional_expectation(lambda y: y, X_new)
#
# If rows belong together (visits of the same person, duplicates), say so with ``groups=``, or held-out values will be
# too good. Numeric codes that stand for labels must be converted to text: ``frame["zip"].astype(str)``. From a
# terminal::
#
#     correspondence analyze my_data.csv --x age,city --y income -o my_result
#     correspondence compare my_data.csv --x age,city --y income
#
# Next
# ----
#
# - :doc:`/how-much-dependence`: the same questions in depth, and what to report.
# - :doc:`/two-views`: many columns on both sides, images and texts, and how many components they share.
# - :doc:`/explorer`: a page to look at what was found.
# - :doc:`/scaling`: files larger than memory.
# - :doc:`/theory`: where the functions come from.
