"""
A survey: many columns at once
==============================

For anyone with a questionnaire, a table of customers, or any other file of many columns.

After a school meal, 55 people answered which symptoms they had and what they had eaten. You will find out what goes
with what, draw the map, see how much of it would hold for other people, and place what took no part.
"""

import matplotlib.pyplot as plt

import correspondence as co

survey = co.datasets.load_poison()
survey.head()

# %%
# Each column is a variable of its own. Age, the hours until somebody fell sick, whether that happened at all, and sex
# describe the people; five symptoms and six foods are what the analysis is about. The others are **supplementary**:
# they are placed afterwards.
#
# What goes with what?
# --------------------

about = ["Age", "Time", "Sick", "Sex"]
mca = co.MCA(n_components=2).fit(survey, supplementary=about)
mca.columns_.to_frame("polars").select(
    "label", "mass", "principal_1", "contributions_1"
).sort("contributions_1", descending=True).head(6)

# %%
# The first axis is the score of the people that all eleven columns explain best: on average over the columns, a third
# of its variance. It sets those without abdominal pain, diarrhoea and fever against the others, and *no mayonnaise*
# lies with the healthy.

mca.inertias_, dict(zip(mca.variables_, mca.eta2_[:, 0].round(2), strict=True))

# %%
# The map
# -------
#
# Each variable has a colour; the triangles are its answers, at the mean of the people who gave them.
# Diamonds took no part.

co.plot.plane(mca)
plt.show()

# %%
# Would it hold?
# --------------
#
# Permuting each column separately leaves nothing that goes together. How many axes are stronger than that?

co.latent_dimension(co.MCA(n_components=4), survey[:, 4:])

# %%
# One axis is. On people who were not used in the fit, how much of each answer do the other answers predict?

co.crossfit(co.MCA(n_components=1), survey[:, 4:])

# %%
# Numbers, too
# ------------
#
# `MixedCA` takes numbers beside answers. Those who fell sick late lie at the end of the sick, whatever their age.

mixed = co.MixedCA(n_components=2).fit(survey)
mixed.numbers_

# %%
# New people
# ----------

mca.supplementary(rows=survey[:2]).principal

# %%
# On the command line, `correspondence analyze survey.csv` does all of this and writes a page to explore.
