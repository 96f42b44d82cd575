"""
A classifier: what does it confuse?
===================================

For anyone with a trained model that gives probabilities who wants to know more about it than its accuracy.

The model is treated as a black box. You will query it on images it was not trained on, see which digits it mixes up
and which images lie on its boundaries, check whether its probabilities can be trusted, compare it with another model,
watch a net learn, and put all this to use.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import correspondence as co

X, y = load_digits(return_X_y=True)  # 1797 images of 8 x 8 pixels
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
forest = RandomForestClassifier(100, random_state=0).fit(X_train, y_train)
print("accuracy on held-out images", round(forest.score(X_test, y_test), 3))

# %%
# Use inputs it was not trained on
# --------------------------------
#
# For each image the model has beliefs: a probability for each digit. ``ClassifierCA`` decomposes the dependence of X,
# the image, and Y, the digit according to the model. It needs no labels for that. If you pass labels, it shows what
# is true beside what the model claims.

cca = co.ClassifierCA(forest).fit(X_test, y_test)
cca.summary()

# %%
# - Ten classes give nine **components**, each with a function of the image that separates some digits from others.
#   They are ordered by how sure the model is: the first shows what it finds easy, **the last what it finds hard**.
# - **claimed** is the correlation between image and digit according to the model, **on labels** the correlation with
#   the true digits. This forest knows more than it claims; more on that below.
# - **overlap** is near 0 for two digits that the model never considers for the same image, and 1 for two that it
#   always does.
#
# A common mistake is to use training images. The forest has memorised them, so most of the confusion disappears:

co.ClassifierCA(forest).fit(X_train, y_train).summary()

# %%
# Look at it
# ----------
#
# In the plane of two components each image is a dot, in the colour of the digit that the model predicts, and each
# digit is a triangle. With the map "rowprincipal" an image lies at the mean of the digits, weighted by its beliefs:
# on a triangle if the model is sure, in between if it is not. Here are the two easiest components and the two
# hardest:

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
for ax, pair in zip(axes, [(1, 2), (8, 9)], strict=True):
    co.plot.plane(cca, pair, "rowprincipal", ax=ax, X=X_test)

# %%
# Axes 1 and 2 say little about errors: they separate the digits that the model has no trouble with from a heap of all
# the others. To see what it mixes up, look at the last axes.
#
# Where are the boundaries?
# -------------------------
#
# Three digits fit exactly into a plane, so let us look at three that are often mixed up. Beliefs can be passed
# without a model, so we take those in 3, 8 and 9 and rescale them to sum to 1:

is_among = np.isin(y_test, [3, 8, 9])
beliefs = cca.beliefs(X_test[is_among])[:, [3, 8, 9]]
beliefs /= beliefs.sum(axis=1, keepdims=True)
three = co.ClassifierCA.from_beliefs(beliefs, classes=[3, 8, 9])
images = X_test[is_among].reshape(-1, 8, 8)
ax = co.plot.plane(
    three, map="rowprincipal", boundaries=True, confusing=beliefs, thumbnails=images
)

# %%
# On the lines, two digits are equally likely. Rings mark the closest calls, with their images framed in the colour of
# the winning digit. The same as a list:

three.confusing(beliefs, n=5)

# %%
# Can its probabilities be trusted?
# ---------------------------------
#
# When a calibrated model says 0.8, it is right in 80 % of cases. ``calibration`` looks for the temperature that makes
# the probabilities right: above 1 the model is too sure of itself, below 1 too cautious.

cca.calibration(X_test, y_test)

# %%
# The mean of a hundred trees is too cautious, and the temperature corrects this: the log loss and the calibration
# error drop, and what is claimed agrees with the labels. The temperature is fitted on one half of the images and
# evaluated on the other. Apply it with ``ClassifierCA(forest, temperature=...)``. The predicted digits stay the same;
# only the probabilities change.
#
# Two models
# ----------
#
# Which images do two models see differently? We put both models into the same space, where their boundaries coincide.

linear = LogisticRegression(C=0.001, max_iter=1000).fit(X_train, y_train)
comparison = co.compare_classifiers(
    {"forest": forest, "linear": linear}, X_test, y_test
)
print(comparison)
comparison.most(5)

# %%
# Here are the five images on which they disagree most. ``co.plot.classifiers(comparison)`` draws the two planes and
# the moves between them.

fig, axes = plt.subplots(1, 5, figsize=(9, 2), layout="constrained")
for ax, i in zip(axes, comparison.most_index(5), strict=True):
    guesses = [model.predict(X_test[[i]])[0] for model in (forest, linear)]
    ax.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    ax.set_title(
        f"is {y_test[i]}: forest {guesses[0]}, linear {guesses[1]}", fontsize=8
    )
    ax.axis("off")

# %%
# How did it learn?
# -----------------
#
# A torch net works the same way, ``co.ClassifierCA(net)``; whether it returns logits or probabilities is detected.
# Two lines in the training loop record its beliefs on some test images.

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
)
optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
pixels, digits = torch.tensor(X_train / 16, dtype=torch.float32), torch.tensor(y_train)
probes = (X_test[:300] / 16).astype(np.float32)

recorder = co.TrainingRecorder(net, probes, y_test[:300], every=3)
for _ in range(8):
    for batch in torch.randperm(len(pixels)).split(32):
        loss = torch.nn.functional.cross_entropy(net(pixels[batch]), digits[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recorder.step()
recorder.record()  # the end, whatever step it is
timeline = recorder.timeline()
print(timeline)

# %%
# Now we know in which order the digits were learnt, and which pairs took longest to separate.
# ``recorder.movie("training.html")`` makes a page with a slider through the training.

figure = co.plot.timeline(timeline)

# %%
# What to do with it
# ------------------
#
# **Which images should be labelled next?** Those near a boundary teach the model more than images taken at random. To
# see this, we start with 100 labels, add 100 more in either way, and compare the accuracy on test images that took no
# part in the choice, for five starts:


def forest_of(labelled):
    model = RandomForestClassifier(50, random_state=0)
    return model.fit(X_train[labelled], y_train[labelled])


scores = []
for start in range(5):
    order = np.random.default_rng(start).permutation(len(X_train))
    known, random, pool = order[:100], order[100:200], order[100:]
    asked = co.ClassifierCA(forest_of(known)).fit(X_train[pool])
    confusing = pool[asked.confusing(X_train[pool], n=100).index]
    choices = [known, [*known, *random], [*known, *confusing]]
    scores.append([forest_of(chosen).score(X_test, y_test) for chosen in choices])
start, random, confusing = np.mean(scores, axis=0)
print(f"100 labels {start:.3f}, 100 more {random:.3f}, 100 confusing {confusing:.3f}")

# %%
# **Which classes could be merged?** If your application can do without one distinction, it is the one between the
# classes that overlap most:

i, j = np.unravel_index(np.triu(cca.overlap_, 1).argmax(), (10, 10))
merged = np.where(np.arange(10) == j, i, np.arange(10))
accuracy = (merged[forest.predict(X_test)] == merged[y_test]).mean()
print(f"{i} and {j} as one class: accuracy {accuracy:.3f}")

# %%
# The gain is small here, because this model makes few errors.
#
# With your own data
# ------------------
#
# .. code-block:: python
#
#     cca = co.ClassifierCA(my_model).fit(X_new, y_new)  # y_new may be left out
#     cca.summary()
#     print(cca.calibration(X_new, y_new))
#     cca.confusing(X_pool, n=100).to_frame()  # to be labelled, or looked at
#     co.explore(cca, X_new, path="model.html", x_images=images)  # a page to click on
#
# ``my_model`` is a scikit-learn model with ``predict_proba``, a torch module, an ONNX session, or a function that
# returns probabilities. From a terminal, with a file that has a column of probabilities for each class and a column
# of labels::
#
#     correspondence analyze beliefs.csv --beliefs --y truth -o model
#
# Next
# ----
#
# - :doc:`/classifiers`: all of this in depth, boundaries with more than three classes, movies.
# - :doc:`/explorer`: the page to click on.
# - :doc:`/scaling`: a million inputs and a thousand classes.
# - :doc:`/theory`: why the beliefs of a classifier can be decomposed like a table.
