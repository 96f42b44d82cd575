"""
Two columns of a data frame
===========================

For those who have a frame with numbers, labels, or both, and ask how two of its columns depend on each other.

A correlation coefficient sees straight lines only. You will find a dependence that it misses, learn how much of what
was found is real, predict with it, look at real wines, and see what happens where there is nothing to find.
This page needs pandas: ``pip install pandas``.
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
# We make up 1500 thermometer readings. It is coldest at midnight and warmest at noon, but on each day the curve is
# ahead or late by a few hours.

rng = np.random.default_rng(0)
hour = rng.uniform(0, 24, 1500)
delay = rng.normal(0, 0.6, 1500)
temperature = 10 - 8 * np.cos(2 * np.pi * hour / 24 + delay)
frame = pd.DataFrame({"hour": hour, "temperature": temperature})

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(frame.hour, frame.temperature, ".", alpha=0.6)
labels = ax.set(xlabel="hour", ylabel="temperature", xticks=[0, 6, 12, 18, 24])

# %%
# Everybody sees the dependence. Pearson's correlation does not, because what it gains in the morning it loses in the
# evening:

print("Pearson ", round(frame.hour.corr(frame.temperature), 2))
print("Spearman", round(frame.hour.corr(frame.temperature, method="spearman"), 2))

# %%
# ``decompose`` looks for functions f(hour) and g(temperature) that are correlated as strongly as possible, then for a
# second pair that is uncorrelated with the first, and so on.

d = co.decompose(frame[["hour"]], frame["temperature"], verbose=False)
print(d)

# %%
# Read the table first. The **correlation** of the first pair of functions is large. The **PIC** (principal inertia
# component) is its square; do not compare the one with the other. The **% of chi2** are shares of the dependence that
# the method found.
#
# The last line says what was done, and is too long for this page:

print(textwrap.fill(d.origin, 85))

# %%
# Several methods were fitted and judged by how much of the dependence they **capture** in pairs that they have not
# seen, and the simplest of those that are not clearly behind the best was taken:
#
# - ``cca`` takes straight lines, and captures nothing here;
# - ``ace`` takes a smooth curve for each column;
# - ``kernel``, ``forest`` and ``pice`` (neural nets) are more flexible, which gains nothing here.
#
# It also says how many pairs of functions are more than chance, and keeps only those. For these data we know the
# truth: the correlations are exp(-0.18 k\ :sup:`2`), and there are infinitely many, of which 1500 readings show the
# strongest. What was found is a little too high, as training values are.

k = np.arange(1, 5)
print("exact correlations", np.exp(-0.18 * k**2).round(2))
print("found             ", d.correlations.round(2))

# %%
# The functions can be drawn. The first f is the curve of the day, and the first g is nearly a straight line: warm at
# noon and cold at midnight. The second pair tells the hours in between from both noon and midnight.

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
# **The correlations of a fit are no evidence.** They were made as large as possible on the same readings. Ask
# readings that the fit has not seen:

co.crossfit(co.ACE(n_components=4), frame[["hour"]], frame["temperature"])

# %%
# Five fits were made, each without a fifth of the readings, and judged there. Training values never go down to 0;
# held-out values do, and those are the ones to report, with their intervals. Whether a pair is there at all is the
# question of a test:

co.permutation_test(co.ACE(n_components=4), frame[["hour"]], frame["temperature"])

# %%
# A small p-value says "not chance", never "strong". For strength look at the held-out correlation.
#
# Prediction
# ----------
#
# The best prediction of anything about Y, given X, comes from the same functions. Here is the expected temperature at
# four hours, beside the exact one:

four = pd.DataFrame({"hour": [0.0, 6.0, 12.0, 18.0]})
exact = 10 - 8 * np.exp(-0.18) * np.cos(2 * np.pi * four.hour / 24)
print("expected", d.conditional_expectation(lambda t: t, four).round(1))
print("exact   ", exact.to_numpy().round(1))

# %%
# Any function of the temperature can be asked for, such as "is it above 15 degrees?". Its expectation is a
# probability:

d.conditional_expectation(lambda t: t > 15, four).round(2)

# %%
# Real data: wines
# ----------------
#
# 178 Italian wines, of which we take the content of flavanoids and the intensity of the colour. The Pearson
# correlation is weak:

from sklearn.datasets import load_wine

wine = load_wine(as_frame=True).frame
wine["grape"] = np.array(["Barolo", "Grignolino", "Barbera"])[wine.pop("target")]
flavanoids, colour = wine[["flavanoids"]], wine["color_intensity"]
print("Pearson", round(wine.flavanoids.corr(colour), 2))
print(co.compare(flavanoids, colour, ["cca", "ace", "kernel"], n_components=2))

# %%
# ``compare`` is the first half of ``decompose``: each method on the same wines, held-out correlations above the
# training ones. Curves find a dependence that is much stronger than the straight line has it. Where does it come
# from?

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for grape, group in wine.groupby("grape"):
    ax.plot(group.flavanoids, group.color_intensity, ".", label=grape)
labels = ax.set(xlabel="flavanoids", ylabel="colour intensity")
legend = ax.legend()

# %%
# From three kinds of grapes, which nobody told the method about. Such hidden groups are a frequent cause of
# dependence that is not a line.
#
# Numbers and labels together
# ---------------------------
#
# Columns may be of any type. Let X be the two measurements and Y the grape, which is a label. We keep every third
# wine aside to judge by:

is_new = np.arange(len(wine)) % 3 == 0
X, y = wine[["flavanoids", "color_intensity"]], wine["grape"]
est = co.ACE(n_components=2).fit(X[~is_new], y[~is_new])
est.evaluate(X[is_new], y[is_new])

# %%
# Three labels have two components, and both are strong in wines that the fit has not seen. The plane shows these
# wines at their f, and the grapes at their g:

ax = co.plot.plane(est, X=X[is_new], classes=y[is_new], names=("wine", "grape"))

# %%
# Wines that lie close together have similar grapes. **Do not read the distance of a wine from a grape**; compare
# wines with wines. Or ask for the probability of each grape, by the same conditional expectation as above:

new = X[is_new].iloc[[0, 30, -1]]
grapes = np.unique(y)
chances = est.decomposition_.conditional_expectation(
    lambda y: np.asarray(y).reshape(-1, 1) == grapes, new
)
pd.DataFrame(chances, index=y[new.index], columns=grapes).round(2)

# %%
# The index says which grape it is. Such figures are approximations in mean square, and may leave 0 to 1 a little.
#
# Labels may be on the side of X as well. How much better are the flavanoids known from colour and grape than from
# colour alone?

ace = co.ACE(n_components=1)
print(co.crossfit(ace, wine[["color_intensity"]], wine["flavanoids"]))
print(co.crossfit(ace, wine[["color_intensity", "grape"]], wine["flavanoids"]))

# %%
# Much better, and it holds in wines that the fit has not seen.
#
# When there is nothing
# ---------------------
#
# Shuffle one column, and all dependence is gone. A good method has to say so:

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
# warning, and the last line, one would take it for a finding.
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
# If rows belong together (visits of the same person, copies), say so with ``groups=``, or held-out values are too
# good. Codes that are numbers but mean labels have to be text: ``frame["zip"].astype(str)``. From a terminal::
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
