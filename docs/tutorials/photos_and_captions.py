"""
Photos and captions: find one by the other
==========================================

For anyone with two views of the same things, such as photos with captions, products with descriptions or sentences
with translations, who wants to search one by the other.

You will pair small images with captions, learn functions of both that agree, count how much the two have in common,
find words for images and images for words, and compare the results with the simplest possible baseline. It takes
seconds, and nothing is downloaded.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import correspondence as co

# %%
# Images and captions
# -------------------
#
# The images are handwritten digits of 8 x 8 pixels. We make up the captions: a few words that are true of the digit,
# one for the ink, and some that say nothing. The writer forgets each word with a probability of 40 %, so captions of
# the same digit differ.

facts = {
    0: "zero even round hole",
    1: "one odd straight",
    2: "two even prime curved",
    3: "three odd prime curved",
    4: "four even straight",
    5: "five odd prime curved",
    6: "six even round hole",
    7: "seven odd prime straight",
    8: "eight even round hole",
    9: "nine odd round hole",
}
rng = np.random.default_rng(0)
digits = load_digits()
order = rng.permutation(len(digits.images))
images, kind = digits.images[order], digits.target[order]
ink = images.mean(axis=(1, 2))
is_bold = ink > np.median(ink)


def caption_of(words):
    kept = [word for word in words if rng.random() < 0.6]
    filler = ["this", rng.choice(["photo", "picture", "drawing"])]
    return " ".join(rng.permutation(kept + filler))


ink_words = np.where(is_bold, "bold", "thin")
true_words = [
    [*facts[k].split(), word] for k, word in zip(kind, ink_words, strict=True)
]
captions = [caption_of(words) for words in true_words]


def show(ax, image):
    ax.imshow(image, cmap="gray_r")
    ax.axis("off")


fig, axes = plt.subplots(1, 4, figsize=(9, 2), layout="constrained")
for i, ax in enumerate(axes):
    show(ax, images[i])
    ax.set_title(captions[i], fontsize=8)

# %%
# The first 1200 pairs are for learning. The others are held out until the end, for evaluation.

X = images[:, None]  # of shape (n, channels, height, width)
X_train, X_test = X[:1200], X[1200:]
captions_train, captions_test = captions[:1200], captions[1200:]

# %%
# How much do they have in common?
# --------------------------------
#
# Think first. What do an image and its caption both contain? Which of the ten digits it is: that makes nine
# components, since the constant does not count. And whether it is bold: one more. Fillers and forgotten words are in
# the caption alone. So there should be ten components, although the method knows nothing about digits. Linear
# functions of pixels and words are enough to count them:

pixels = images[:1200].reshape(1200, 64)
shared = co.latent_dimension(co.CCA(n_components=15), pixels, captions_train)
shared.summary()
ax = co.plot.dimension(shared)

# %%
# A test finds the number. The training values go on and on, and do not show where to stop. A shared variable with
# 11 classes is one way to read ten components; ours, ten digits and the ink, is another.
#
# Two nets
# --------
#
# ``PICE`` learns a convolutional net f for the images and another net g for the bags of words, so that their outputs
# are as strongly correlated as possible.

pice = co.PICE(n_components=10, max_steps=200, random_state=0)
pice.fit(X_train, captions_train)
held_out = pice.evaluate(X_test, captions_test)
print("training", pice.correlations_.round(2))
print("held out", held_out.correlations.round(2))

# %%
# The first line is not evidence; the second is. Both are correlations; their squares are the PICs (principal inertia
# components). They cannot reach 1, because captions miss words.
#
# Words for an image
# ------------------
#
# The index holds the words that can be found. A word lies at the mean of g over the training captions that contain
# it.

words = np.unique(np.concatenate(true_words))
has_word = np.array([np.isin(words, caption.split()) for caption in captions_train])
names = np.arange(len(X_test))
index = co.CrossModalIndex.of_tags(pice, words, captions_train, has_word, names, X_test)
found = index.tags(X_test[:10], k=3)
found

# %%
# The number in brackets is the score: what the functions claim to be the probability that a caption of this image
# contains the word. The true value is never above 0.6, since the writer forgets 40 % of the words; the claims are
# rough, so trust their order more than their decimals. (``index.calibrate(X, has_word)`` with pairs that took no part
# in the fit turns them into probabilities.) Words that are not true of the image are in red:

fig, axes = plt.subplots(2, 5, figsize=(8, 4.6))
fig.subplots_adjust(left=0.02, right=0.98, bottom=0.15, top=0.98, hspace=0.5)
for i, ax in enumerate(axes.flat):
    show(ax, X_test[i, 0])
    for rank, word in enumerate(found.labels[i]):
        colour = "black" if word in true_words[1200 + i] else "red"
        ax.text(3.5, 8.4 + 1.2 * rank, word, color=colour, ha="center")

# %%
# Three ways to rank
# ------------------
#
# Here is everything known about one image and its likeliest words:

index.tags(X_test[:1], k=6).to_frame().drop(columns=["query", "index"]).round(2)

# %%
# - **score**, by default the posterior, answers "will the caption contain this word?".
# - **ratio**, the density ratio, answers "how many times more often than in other captions?". **It is not a
#   probability.** It is high for rare words, such as the name of a digit, and about 2 at most for "odd" and "even",
#   which are true of half the images.
# - **distance** between f(x) and g(y) is what the paper ranks by. It ignores how frequent words are.
#
# Held-out images decide which is best. Precision@3 is the share of true words among the first three:

is_true = np.array([np.isin(words, of_image) for of_image in true_words[1200:]])
for by in ("posterior", "ratio", "distance"):
    first = index.ranked(by).tags(X_test, k=3).index
    print(f"{by:20s} {np.take_along_axis(is_true, first, axis=1).mean():.3f}")
commonest = np.argsort(-has_word.mean(axis=0))[:3]
print(f"{'the commonest words':20s} {is_true[:, commonest].mean():.3f}")

# %%
# Always compare with the last line: frequent words are often true, and a method that does not beat them has learnt
# nothing. The posterior, which is the score above, is the default for words. The ratio loses, because it
# prefers a rare word that may be true to a common one that is. The distance does well on these data; on real
# photographs it is far behind (``correspondence reproduce flickr``).
#
# Images for words
# ----------------
#
# Now the other way round. We search the held-out images by a word:


def show_found(queries, matches):
    size = (8, len(queries))
    _, axes = plt.subplots(len(queries), 8, figsize=size, layout="constrained")
    for query, row, labels in zip(queries, axes, matches.labels, strict=True):
        for ax, i in zip(row, labels, strict=True):
            show(ax, X_test[i, 0])
        row[0].text(-1, 3.5, query, ha="right", va="center")


asked = ["hole", "prime", "seven", "thin"]
show_found(asked, index.items(tags=asked, k=8))

# %%
# or by a sentence, which goes through the net for captions. Words that occur in no training caption are ignored:

asked = ["a bold drawing of zero", "this thin four", "odd round hole"]
show_found(asked, index.items(asked, k=8))

# %%
# With your own data
# ------------------
#
# .. code-block:: python
#
#     X, captions = np.load("photos.npy"), open("captions.txt").read().splitlines()
#     pice = co.PICE(n_components=20).fit(X_train, captions_train)  # minutes for real photos
#     print(pice.evaluate(X_test, captions_test))  # keep components that hold there
#     index = co.CrossModalIndex(pice, captions_test, captions_test, names, X_test)
#     index.tags(X_new, k=5), index.items(["two dogs in the snow"], k=10)
#
# Photos are an array of shape (n, 3, height, width), all of the same size; 64 x 64 is enough to start with. If you
# have features from a large pretrained model, pass those instead; ``co.CCA`` may then be enough. Keep all captions of
# a photo on the same side of the split. From a terminal, with a folder of images and a file of their names and
# captions::
#
#     correspondence analyze captions.csv --images photos --size 64 -o pairs
#
# Next
# ----
#
# - :doc:`/two-views`: other kinds of data, all ways to rank, and when to take which.
# - :doc:`/how-much-dependence`: how the number of components is tested.
# - :doc:`/explorer`: a page with the images in the plane, where a click finds the words.
# - :doc:`/scaling`: training on files larger than memory.
# - :doc:`/theory`: why correlated functions give probabilities.
