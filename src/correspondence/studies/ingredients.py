"""Ingredients of recipes: spellings, preparations and synonyms merged into the commonest ingredients."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_whole
from correspondence.studies.ingredient_rules import DROPPED_WORDS, MERGING_RULES, STANDARD_SPELLINGS, make_word_set

__all__ = ["Ingredients", "simplify_name"]

MAX_ROUNDS = 10
IRREGULAR_SINGULARS = {
    "chilies": "chili", "chillies": "chili", "chiles": "chili", "cookies": "cookie", "halves": "half", "leaves": "leaf",
    "loaves": "loaf", "anchovies": "anchovy", "bitters": "bitters", "brussels": "brussels", "greens": "greens",
    "grits": "grits", "herbes": "herbes", "madras": "madras", "molasses": "molasses", "schnapps": "schnapps",
    "verts": "vert", "haricots": "haricot", "oats": "oats", "less": "less", "ras": "ras", "jeera": "jeera",
    "calves": "calf", "pies": "pie",
}  # fmt: skip


# What is made of something is not that thing: tomato soup is not a tomato, corn syrup is not corn.
PRODUCT_WORDS = make_word_set("""
    ale bark bean biscuit bitters bran bread broth bun butter cake candy cereal chip chutney concentrate cookie cracker
    cream crumb crust curd custard dough dressing dumpling extract filling flour frosting gelatin germ glaze gnocchi
    gravy greens gum husk jam jelly juice leaf liqueur marinade marmalade marshmallow meal milk mix mustard nectar
    noodle nut oil paper paste pastry pesto pickle pie powder preserve pudding puree relish roll rub salad salt sauce
    seasoning seed soda soup spray sprout squash starch sugar syrup tea topping vinaigrette vinegar vodka wafer water
    wine wrapper zest
""")

# As a whole name only: within a longer name these words are too general.
WHOLE_NAMES = {
    "curd": "yogurt",
    "oil": "vegetable_oil",
    "pepper": "black_pepper",
    "soy": "soy_sauce",
    "vinegar": "white_vinegar",
}


class Ingredients(TransformerMixin, BaseEstimator):
    """The commonest ingredients of recipes, with their variants merged, as columns of 0 and 1.

    Preparation, quality, spelling and plural are taken off the names and synonyms are merged (`simplify_name`). A name
    that is not among the commonest then counts as the longest part of it that is: "toasted sesame oil" as "sesame
    oil", "reduced sodium chicken broth" as "chicken broth". As that changes the counts, it is done again until the
    commonest stay the same. Nothing but the names is used.

    Parameters
    ----------
    n_ingredients : int
        Make this number of columns, or fewer if the recipes have fewer ingredients.

    Attributes
    ----------
    names_ : list of str
        The columns, the commonest first, those equally common by name.

    Examples
    --------
    >>> recipes = [["fresh tomatoes", "garlic cloves"], ["tomatoes", "extra-virgin olive oil"], ["olive oil", "salt"]]
    >>> ingredients = Ingredients(n_ingredients=2).fit(recipes)
    >>> ingredients.names_
    ['olive oil', 'tomato']
    >>> ingredients.transform([["Diced Tomatoes"], ["tomatoes", "pure olive oil"], ["garlic"]])
    array([[0., 1.],
           [1., 1.],
           [0., 0.]])
    """

    def __init__(self, n_ingredients: int = 146) -> None:
        self.n_ingredients = n_ingredients

    def fit(self, X: Sequence[Sequence[str]], y: Any = None) -> Ingredients:
        """Find the commonest ingredients.

        Parameters
        ----------
        X : list of lists of str
            The ingredients of each recipe.
        y : ignored
            It is accepted for the sake of pipelines.

        Returns
        -------
        Ingredients
            The same object.
        """
        check_whole(self.n_ingredients, "n_ingredients", 1)
        recipe, name, spellings = index_spellings(X)
        if not spellings:
            raise ValueError("X must have at least one ingredient, got none. Pass recipes with at least one name.")
        plain = [_list_plain_words(spelling) for spelling in spellings]
        commonest: list[str] = []
        for _ in range(MAX_ROUNDS):
            known = set(commonest)
            merged = [_find_known_part(words, known) or " ".join(words) for words in plain]
            previous, commonest = commonest, _list_commonest(recipe, name, merged, self.n_ingredients)
            if set(commonest) == set(previous):
                break
        self._columns = {ingredient: j for j, ingredient in enumerate(commonest)}
        self.names_ = [_replace_underscores(ingredient) for ingredient in commonest]
        return self

    def transform(self, X: Sequence[Sequence[str]]) -> np.ndarray:
        """Find which of the commonest ingredients each recipe has.

        Parameters
        ----------
        X : list of lists of str
            The ingredients of each recipe; ``[["garlic"]]`` is one recipe of one ingredient.

        Returns
        -------
        ndarray of shape (n, n_ingredients)
            1 where the recipe has the ingredient in any variant, otherwise 0.
        """
        check_is_fitted(self, "names_")
        recipe, name, spellings = index_spellings(X)
        column = np.array([self._find_column(spelling) for spelling in spellings], dtype=np.intp)[name]
        found = np.zeros((len(X), len(self.names_)))
        found[recipe[column >= 0], column[column >= 0]] = 1
        return found

    def find_ingredient(self, name: str) -> str | None:
        """Find the ingredient of `names_` as which a name counts, or None.

        Examples
        --------
        >>> Ingredients().fit([["soy sauce"], ["salt"]]).find_ingredient("low sodium soy sauce")
        'soy sauce'
        """
        check_is_fitted(self, "names_")
        column = self._find_column(name)
        return self.names_[column] if column >= 0 else None

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return `names_` as an array, as scikit-learn requires."""
        check_is_fitted(self, "names_")
        return np.array(self.names_, dtype=object)

    def _find_column(self, name: str) -> int:
        return self._columns.get(_find_known_part(_list_plain_words(name), self._columns) or "", -1)


def simplify_name(name: str) -> str:
    """Return the name of an ingredient without preparation, quality, brand marks and plural, with synonyms merged.

    Examples
    --------
    >>> names = ("2% Low-Fat Milk", "finely chopped scallions", "ground cloves", "garlic cloves")
    >>> [simplify_name(name) for name in names]
    ['milk', 'green onion', 'clove', 'garlic']
    """
    return _replace_underscores(" ".join(_list_plain_words(name)))


def _list_plain_words(name: str) -> tuple[str, ...]:
    """Return the words of the plain name; those that are bound together count as one."""
    words = apply_rules([_make_singular(word) for word in _split_name(name)])
    kept = apply_rules([word for word in words if word not in DROPPED_WORDS])
    words = kept or words
    alone = WHOLE_NAMES.get(" ".join(words))
    return tuple(alone.split() if alone else words)


def _split_name(name: str) -> list[str]:
    name = re.sub(r"[®™©'\u2019`!]|\(.*?\)", "", name.lower())  # first, as folding makes letters of the trade mark
    name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z]+", " ", name).split()
    cut = next((i for i, word in enumerate(words) if i and word in {"in", "with", "for", "without"}), None)
    return words[:cut]


def _make_singular(word: str) -> str:
    word = IRREGULAR_SINGULARS.get(word) or _strip_plural(word)
    return STANDARD_SPELLINGS.get(word, word)


def _strip_plural(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("oes", "ches", "shes", "xes", "sses")) else word[:-1]


def apply_rules(words: list[str]) -> list[str]:
    """Replace the words that have a rule, the longest from the left first."""
    result, i = [], 0
    while i < len(words):
        for end in range(min(len(words), i + MAX_WORDS_OF_VARIANT), i, -1):
            replacement = NAMES_OF_VARIANTS.get(_replace_underscores(" ".join(words[i:end])))
            if replacement:
                break
        result.extend(replacement or words[i:end])
        i = end
    return result


def _find_known_part(words: tuple[str, ...], known: Iterable[str]) -> str | None:
    return next((part for part in _iterate_parts(words) if part in known), None)


def _iterate_parts(words: tuple[str, ...]) -> Iterator[str]:
    """Iterate over runs of words, the longest first and the last of equal ones; a product keeps its last word."""
    is_product = bool(words) and words[-1].split("_")[-1] in PRODUCT_WORDS
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length, -1, -1):
            yield " ".join(words[start : start + length])
            if is_product:
                break


def _list_commonest(recipe: np.ndarray, name: np.ndarray, merged: list[str], most: int) -> list[str]:
    """List the ingredients that occur in most recipes; each recipe counts once."""
    labels, code = np.unique(np.array(merged), return_inverse=True)
    counts = np.bincount(np.unique(recipe * len(labels) + code[name]) % len(labels), minlength=len(labels))
    order = np.lexsort((np.arange(len(labels)), -counts))
    return [str(label) for label in labels[order] if label][:most]


def index_spellings(X: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Find for each mention of an ingredient its recipe and its position in the list of all spellings."""
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise TypeError(f"X must be a list of recipes, each a list of names, got {type(X).__name__}.")
    seen: dict[str, int] = {}
    recipes, names = [], []
    for i, ingredients in enumerate(X):
        for name in check_recipe(ingredients, i):
            recipes.append(i)
            names.append(seen.setdefault(name, len(seen)))
    return np.array(recipes, dtype=np.intp), np.array(names, dtype=np.intp), list(seen)


def check_recipe(ingredients: Any, i: int) -> Iterable[str]:
    if isinstance(ingredients, str):
        raise TypeError(f"X[{i}] must be a list of names, got the text {ingredients!r}. Write [{ingredients!r}].")
    if not isinstance(ingredients, Iterable):
        raise TypeError(f"X[{i}] must be a list of names, got {ingredients!r}. Pass each recipe as a list.")
    names = list(ingredients)
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None or None in names:
        raise TypeError(f"X[{i}] must hold names of ingredients, got {wrong!r}. Leave it out or write it as text.")
    return names


def _replace_underscores(name: str) -> str:
    return name.replace("_", " ")


def _read_rules(rules: str) -> dict[str, list[str]]:
    """Read the words of the name for each variant and for the name itself; a line indented further goes on."""
    lines = re.sub(r"\n {8,}", " ", rules).strip().splitlines()
    split = (line.strip().partition(":") for line in lines)
    named = ((name, [_replace_underscores(name), *variants.split(",")]) for name, _, variants in split)
    return {variant.strip(): name.split() for name, variants in named for variant in variants if variant}


NAMES_OF_VARIANTS = _read_rules(MERGING_RULES)
MAX_WORDS_OF_VARIANT = max(len(variant.split()) for variant in NAMES_OF_VARIANTS)
