"""
A table of counts: correspondence analysis
==========================================

For anyone with a contingency table, perhaps with R's ``ca`` or ``FactoMineR`` behind them.

592 statistics students wrote down the colour of their hair and of their eyes (Snee 1974). You will see how strongly
the two are related, draw the map, read it without the usual mistakes, and find out how much of it would hold for
other students.
"""

import matplotlib.pyplot as plt
import numpy as np

import correspondence as co

table = co.datasets.load_hair_eye()
table.to_frame()

# %%
# Rows are hair, columns are eyes. An array, a scipy sparse matrix, or a pandas, polars or pyarrow frame whose first
# column (or index) holds the row labels would work as well.
#
# Is there anything to look at?
# -----------------------------

ca = co.CA().fit(table)
ca.chi2_test_

# %%
# The chi-square test says that hair and eyes are not independent. It does not say how strongly they depend on each
# other: with enough students, even the faintest dependence has a tiny p-value. The decomposition shows the strength:

ca.decomposition_

# %%
# - The analysis gives each hair colour a number f and each eye colour a number g so that the two are as strongly
#   correlated as possible. That is the first **component**, and its correlation is in the first line. The second
#   component is the strongest one uncorrelated with the first, and so on. A 4 x 4 table has three.
# - The **PIC** (principal inertia component) is the square of the correlation, known elsewhere as eigenvalue or
#   principal inertia. Do not confuse the two: a PIC of 0.2 sounds small, but is a correlation of 0.45.
# - **Total inertia** is the sum of all PICs: the chi-square statistic divided by the number of students.
# - **% of inertia** is each component's share of that sum. It says which component matters more, not whether any
#   of them matters.

print("chi-square / n     ", round(ca.chi2_test_.statistic / table.total, 4))
print("sum of all PICs    ", ca.pics_.sum().round(4))
print("roots of the PICs  ", np.sqrt(ca.pics_).round(4))

# %%
# The map
# -------

ax = co.plot.plane(ca, names=("hair", "eyes"))

# %%
# How to read it:
#
# - **The origin is the average student.** A colour near it has ordinary partners; one far from it has unusual ones.
# - **Two rows close to each other have similar profiles**: red and brown hair come with similar eyes, blond hair with
#   different ones. The same holds for two columns.
# - **The distance between a row and a column means nothing here.** Both sides are stretched to fill the same picture
#   (a *symmetric* map). Only directions can be compared: blond hair and blue eyes lie on the same side, so they go
#   together more often than by chance. This is what beginners most often get wrong.
# - **The axes are not equally important.** Axis 1 has most of the inertia, as its label says; do not read much into
#   small vertical differences.
#
# To compare rows with columns, use a map that allows it. With ``map="rowprincipal"`` each hair colour lies at the
# mean of the eye colours, weighted by how often they occur with it:

ax = co.plot.plane(ca, map="rowprincipal", names=("hair", "eyes"))

# %%
# How often exactly? The density ratio says how many times more often two colours occur together than they would by
# chance. It is a ratio, not a probability, and can be far above 1.

hair, eyes = table.rows, table.columns
print("eyes       ", *(f"{colour:>6s}" for colour in eyes))
ratios = ca.decomposition_.density_ratio(hair, eyes, pairwise=True)
for colour, of_colour in zip(hair, ratios, strict=True):
    print(f"{colour:5s} hair ", *(f"{ratio:6.2f}" for ratio in of_colour))

# %%
# Which points make an axis, and which does it show well?
# -------------------------------------------------------

points = ca.rows_.to_frame().set_index("label").round(2)
points.filter(regex="mass|(principal|contributions|cos2)_[12]")

# %%
# - **mass** is the share of students with that hair.
# - **contribution** is the share of the axis that is due to the point; each column sums to 1. Name an axis after the
#   points with large contributions, here blond against dark. A point far out with a small mass contributes little.
# - **cos2** (quality) is the share of the point's squared distance from the origin that the axis shows. A point with
#   a small sum of cos2 is not really where the map puts it, because it sticks out along axes that you do not see.

ax = co.plot.contributions(ca, axis=1, side="rows")

# %%
# A row that took no part
# -----------------------
#
# Supplementary points are placed in the map without influencing it. Here the students with blond hair are split into
# men and women (from R's ``HairEyeColor``); together they are the row Blond:

counts = np.array([[3, 30, 5, 8], [4, 64, 5, 8]])
blond = co.Table(counts, ["Blond men", "Blond women"], eyes)
extra = ca.supplementary(rows=blond)
ax = co.plot.plane(ca, names=("hair", "eyes"), supplementary=extra)

# %%
# Blond lies between the two. Blond women are further out, because blue eyes are even more frequent among them.
#
# Would other students give the same map?
# ---------------------------------------
#
# There are two questions here. *Would the points move?* Draw random tables that could have been observed instead, and
# see how far each point moves. The ellipses contain it in 95 % of cases:

ax = co.plot.plane(
    ca, names=("hair", "eyes"), ellipses=ca.bootstrap(200, random_state=0)
)

# %%
# Again compare rows with rows: colours whose ellipses stay apart differ. Blond stands alone, and black differs from
# brown. Red cannot be distinguished from brown: there are few students with red hair, so its ellipse is large.
#
# *Is the strength real?* The correlations above were made as large as possible on the very students from which they
# are computed, so they are too large. ``crossfit`` fits to four fifths of the students and evaluates on the last
# fifth, five times. For that we need one row per student; your data may already have that form.


def one_line_each(table):
    counts = table.toarray().astype(int)
    row, column = np.indices(counts.shape).reshape(2, -1).repeat(counts.ravel(), axis=1)
    return table.rows[row], table.columns[column]


student_hair, student_eyes = one_line_each(table)
co.crossfit(co.CA(), student_hair, student_eyes)

# %%
# On held-out students the first component is nearly as strong, and the third may be chance. **captured** is one
# number for all components: how much of the inertia they account for on held-out students. For the question "is
# it there at all?" there is a test, which gives a p-value for each component instead of one for the whole table. The
# correlations it prints are training values:

co.permutation_test(co.CA(), student_hair, student_eyes)

# %%
# A map that says less than it seems
# ----------------------------------
#
# This table is known from R's ``FactoMineR``: reasons for not having children, by level of education.

reasons = co.datasets.load_children().table
second = co.CA().fit(reasons)
print(second.chi2_test_)
print(second.decomposition_)

# %%
# The test is as significant as one could wish, and two axes hold more than three quarters of the inertia. It is
# tempting to tell a story about every point. But the correlations are all small. The share is large, but it is a
# share of very little. The same check as before:

reason, education = one_line_each(reasons)
print(co.crossfit(co.CA(n_components=2), reason, education))
print(co.permutation_test(co.CA(n_components=2), reason, education))

# %%
# There is one weak component: people with little education name other reasons than those with a diploma. The second
# does not hold on held-out people, so the vertical positions mean nothing. The ellipses say the same:

names, resampled = ("reason", "education"), second.bootstrap(200, random_state=0)
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
left.set_title("as it is usually shown", loc="right")
right.set_title("with 95 % ellipses", loc="right")
ax = co.plot.plane(second, ax=left, names=names)
ax = co.plot.plane(second, ax=right, names=names, ellipses=resampled, labels="none")

# %%
# **Significant is not strong, and a large share of the inertia is not evidence.**
#
# What R calls it
# ---------------
#
# .. list-table::
#    :header-rows: 1
#
#    * - here
#      - R, ``ca``
#      - R, ``FactoMineR::CA``
#    * - ``correlations_``
#      - ``sv``
#      - roots of ``eig[, 1]``
#    * - ``pics_``
#      - ``sv^2``
#      - ``eig[, 1]``
#    * - ``rows_.principal``
#      - ``rowcoord`` times ``sv``
#      - ``row$coord``
#    * - ``rows_.standard``
#      - ``rowcoord``
#      - ``row$coord`` divided by the roots
#    * - ``rows_.mass``
#      - ``rowmass``
#      - ``call$marge.row``
#    * - ``rows_.chi2_distance``
#      - ``rowdist``
#      -
#    * - ``rows_.contributions``
#      - in ``summary``, thousandths
#      - ``row$contrib``, percent
#    * - ``rows_.cos2``
#      - in ``summary``, thousandths
#      - ``row$cos2``
#    * - ``supplementary(rows=...)``
#      - ``suprow``
#      - ``row.sup``
#    * - ``plane(ca, map="rowprincipal")``
#      - ``plot(map = "rowprincipal")``
#      -
#
# The signs of axes are arbitrary. Here the column that contributes most to an axis lies on its positive side, so the
# same data always give the same map; R may show its mirror image.
#
# With your own data
# ------------------
#
# A row without counts has no profile and no place in the map. It is left out with a warning, and lies at NaN:

import warnings

with_grey = co.Table(np.vstack([table.toarray(), np.zeros(4)]), [*hair, "Grey"], eyes)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    grey = co.CA().fit(with_grey)
print(caught[0].message)
print(grey.rows_.principal[-1])

# %%
# Five lines to adapt, from a file to a result that can be loaded again:
#
# .. code-block:: python
#
#     import pandas as pd
#     table = pd.read_csv("my_table.csv", index_col=0)  # or two columns, pd.crosstab(a, b)
#     ca = co.CA().fit(table)
#     ax = co.plot.plane(ca, ellipses=ca.bootstrap(200, random_state=0))
#     ca.decomposition_.save("my_map.safetensors")  # co.load(...) gives it back
#
# or without Python, with an interactive page as the result::
#
#     correspondence analyze my_table.csv --table -o my_map
#
# Next
# ----
#
# - :doc:`/how-much-dependence`: training values, held-out values, tests, and what to report.
# - :doc:`/explorer`: the same map as a page to move about in, ``co.explore(ca, path="map.html")``.
# - :doc:`/scaling`: tables with millions of rows, and pairs that are larger than memory.
# - :doc:`/theory`: what the components are, and why correspondence analysis is more general than tables.
