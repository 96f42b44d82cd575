import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from correspondence.datasets import fetch_recipes
from correspondence.studies.ingredients import Ingredients, simplify_name

has_recipes = Path(os.environ.get("CORRESPONDENCE_DATA", "nowhere"), "whats_cooking/train.json.zip").is_file()
needs_recipes = pytest.mark.skipif(
    not has_recipes, reason="CORRESPONDENCE_DATA does not hold whats_cooking/train.json.zip"
)


@pytest.mark.parametrize(
    ("plain", "names"),
    [
        ("milk", ["2% Low-Fat Milk", "skim milk", "whole milk"]),
        ("tomato", ["tomatoes", "(14.5 oz.) diced tomatoes", "Tomatoes™ with juice"]),
        ("chili", ["chilies", "chiles", "chilli", "chile pepper", "hot pepper"]),
        ("pea", ["peas", "frozen peas", "green peas"]),
        ("bay leaf", ["bay leaves", "fresh bay leaf"]),
        ("green onion", ["scallions", "spring onions", "sliced green onions"]),
        ("onion", ["yellow onion", "white onion", "finely chopped onion", "sweet onion"]),
        ("turmeric", ["tumeric", "ground turmeric"]),
        ("chickpea", ["garbanzo beans", "chickpeas", "dried chickpeas"]),
        ("chicken broth", ["chicken stock", "fat free less sodium chicken broth"]),
        ("corn starch", ["cornflour", "corn starch"]),
        ("powdered sugar", ["confectioners sugar", "icing sugar"]),
        ("shrimp", ["prawns", "large shrimp"]),
        ("mayonnaise", ["mayonaise", "light mayonnaise"]),
        ("creme fraiche", ["crème fraîche"]),
        ("salt", ["kosher salt", "coarse sea salt"]),
        ("garlic", ["garlic cloves", "large garlic cloves", "clove garlic, fine chop"]),
        ("clove", ["cloves", "clove", "ground cloves", "whole cloves"]),
        ("black pepper", ["pepper", "freshly ground pepper", "ground black pepper"]),
        ("bell pepper", ["red bell pepper", "green pepper", "capsicum"]),
        ("red pepper flake", ["red pepper flakes", "crushed red pepper", "chili flakes"]),
        ("cayenne pepper", ["ground red pepper", "cayenne"]),
        ("cilantro", ["fresh coriander", "chopped cilantro fresh"]),
        ("coriander", ["ground coriander", "coriander seeds"]),
        ("ground beef", ["lean ground beef", "minced beef"]),
        ("tuna", ["tuna packed in olive oil"]),
        ("olive oil", ["extra-virgin olive oil"]),
        ("grits", ["quickcooking grits"]),
        ("asparagus", ["fresh asparagus"]),
        ("fresh", ["fresh"]),
        ("", ["", "100%"]),
    ],
)
def test_variants_have_one_plain_name(plain, names):
    assert {simplify_name(name) for name in names} == {plain}


@pytest.fixture
def pantry():
    """Ingredients that know the names on which shorter ones might be mistaken."""
    names = [
        "black pepper", "bell pepper", "red pepper flakes", "cloves", "garlic", "coconut milk", "milk", "cream",
        "cream of tartar", "sesame oil", "vegetable oil", "corn tortillas", "corn", "soy sauce", "sauce", "fish sauce",
        "fish", "butter", "water", "tomatoes", "chicken", "chicken broth", "cheese", "rice", "rice vinegar",
    ]  # fmt: skip
    return Ingredients().fit([names])


@pytest.mark.parametrize(
    ("name", "merged"),
    [
        ("toasted sesame oil", "sesame oil"),
        ("truffle oil", None),
        ("reduced sodium chicken broth", "chicken broth"),
        ("unsweetened coconut milk", "coconut milk"),
        ("almond milk", None),
        ("cream of tartar", "cream of tartar"),
        ("vanilla ice cream", None),
        ("peanut butter", None),
        ("water chestnuts", None),
        ("corn syrup", None),
        ("white corn tortillas", "corn tortilla"),
        ("teriyaki sauce", "sauce"),
        ("thai fish sauce", "fish sauce"),
        ("low sodium soy sauce", "soy sauce"),
        ("tomato soup", None),
        ("Red Gold® diced tomatoes", "tomato"),
        ("chicken livers", "chicken"),
        ("smoked gouda cheese", "cheese"),
        ("seasoned rice vinegar", "rice vinegar"),
        ("sichuan peppercorns", None),
        ("hot red pepper flakes", "red pepper flake"),
        ("orange bell pepper", "bell pepper"),
        ("", None),
    ],
)
def test_a_name_counts_as_the_longest_known_part_but_not_as_what_it_is_made_of(pantry, name, merged):
    assert pantry.find_ingredient(name) == merged


def test_the_later_part_counts_when_two_are_as_long():
    assert Ingredients().fit([["spinach", "artichoke"]]).find_ingredient("spinach artichoke blend") == "artichoke"


def test_the_commonest_come_first_and_ties_go_by_name():
    recipes = [["salt", "water"], ["salt", "honey"], ["salt"], ["kosher salt", "honey", "water", "mint"]]
    ingredients = Ingredients(n_ingredients=3).fit(recipes)
    assert ingredients.names_ == ["salt", "honey", "water"]
    assert Ingredients(n_ingredients=3).fit([r[::-1] for r in recipes[::-1]]).names_ == ingredients.names_
    assert ingredients.get_feature_names_out().tolist() == ingredients.names_


def test_an_ingredient_counts_once_in_a_recipe():
    ingredients = Ingredients(n_ingredients=1).fit([["salt", "sea salt", "kosher salt"], ["mint"], ["mint"]])
    assert ingredients.names_ == ["mint"]


def test_merging_changes_which_are_the_commonest():
    recipes = [["mint"], ["mint"], ["mint"], ["honey"], ["honey"], ["clover honey"], ["acacia honey"]]
    assert Ingredients(n_ingredients=2).fit(recipes).names_ == ["honey", "mint"]


def test_transform_gives_zeros_and_ones():
    ingredients = Ingredients().fit([["garlic", "salt"], ["garlic"]])
    X = ingredients.transform([["garlic"], [], ["garlic cloves", "minced garlic", "sea salt"], ["plutonium"]])
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, [[1, 0], [0, 0], [1, 1], [0, 0]])


def test_it_is_a_transformer_of_scikit_learn():
    assert clone(Ingredients(n_ingredients=7)).get_params() == {"n_ingredients": 7}
    assert Ingredients().fit_transform([["salt"]]).tolist() == [[1]]
    with pytest.raises(NotFittedError):
        Ingredients().transform([["salt"]])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("salt", TypeError, "X must be a list of recipes"),
        (["salt"], TypeError, r"X\[0\] must be a list .* Write \['salt'\]"),
        ([["salt"], 3], TypeError, r"X\[1\] must be a list"),
        ([["salt", None]], TypeError, r"X\[0\] must hold names"),
        ([["salt", 3]], TypeError, r"X\[0\] must hold names"),
        ([[], []], ValueError, "X must have"),
    ],
)
def test_what_is_no_list_of_recipes_is_an_error(X, error, message):
    with pytest.raises(error, match=message):
        Ingredients().fit(X)


def test_the_number_of_ingredients_is_whole():
    with pytest.raises(ValueError, match="n_ingredients must"):
        Ingredients(n_ingredients=0).fit([["salt"]])


@pytest.mark.slow
@needs_recipes
def test_kaggle_recipes():
    recipes = fetch_recipes().ingredients
    ingredients = Ingredients().fit(recipes)
    X = ingredients.transform(recipes)
    assert X.shape == (39774, 146)
    assert len(set(ingredients.names_)) == 146
    assert X.sum(axis=1).mean() > 8.8
    assert (np.diff(X.sum(axis=0)) <= 0).all()
    assert {"garam masala", "fish sauce", "corn tortilla", "coconut milk"} <= set(ingredients.names_)
    assert Ingredients().fit(recipes[::-1]).names_ == ingredients.names_
