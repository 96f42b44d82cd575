"""Colours of points: of groups, of numbers, and their scales."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "COLUMNS",
    "GREY",
    "PLASMA",
    "ROWS",
    "TAB10",
    "TURBO",
    "VARIABLES",
    "choose_class_colours",
    "choose_scene_colours",
    "darken_colour",
    "is_dark",
    "lighten_colour",
    "list_distinct_colours",
    "list_variable_colours",
    "pick_colour",
]

TAB10 = "1f77b4ff7f0e2ca02cd627289467bd8c564be377c27f7f7fbcbd2217becf"
PLASMA = (
    "0d088710078813078916078a19068c1b068d1d068e20068f2206902406912605912805922a05932c05942e05952f0596310597330597"
    "35049837049938049a3a049a3c049b3e049c3f049c41049d43039e44039e46039f48039f4903a04b03a14c02a14e02a25002a25102a3"
    "5302a35502a45601a45801a45901a55b01a55c01a65e01a66001a66100a76300a76400a76600a76700a86900a86a00a86c00a86e00a8"
    "6f00a87100a87201a87401a87501a87701a87801a87a02a87b02a87d03a87e03a88004a88104a78305a78405a78606a68707a68808a6"
    "8a09a58b0aa58d0ba58e0ca48f0da4910ea3920fa39410a29511a19613a19814a099159f9a169f9c179e9d189d9e199da01a9ca11b9b"
    "a21d9aa31e9aa51f99a62098a72197a82296aa2395ab2494ac2694ad2793ae2892b02991b12a90b22b8fb32c8eb42e8db52f8cb6308b"
    "b7318ab83289ba3388bb3488bc3587bd3786be3885bf3984c03a83c13b82c23c81c33d80c43e7fc5407ec6417dc7427cc8437bc9447a"
    "ca457acb4679cc4778cc4977cd4a76ce4b75cf4c74d04d73d14e72d24f71d35171d45270d5536fd5546ed6556dd7566cd8576bd9586a"
    "da5a6ada5b69db5c68dc5d67dd5e66de5f65de6164df6263e06363e16462e26561e26660e3685fe4695ee56a5de56b5de66c5ce76e5b"
    "e76f5ae87059e97158e97257ea7457eb7556eb7655ec7754ed7953ed7a52ee7b51ef7c51ef7e50f07f4ff0804ef1814df1834cf2844b"
    "f3854bf3874af48849f48948f58b47f58c46f68d45f68f44f79044f79143f79342f89441f89540f9973ff9983ef99a3efa9b3dfa9c3c"
    "fa9e3bfb9f3afba139fba238fca338fca537fca636fca835fca934fdab33fdac33fdae32fdaf31fdb130fdb22ffdb42ffdb52efeb72d"
    "feb82cfeba2cfebb2bfebd2afebe2afec029fdc229fdc328fdc527fdc627fdc827fdca26fdcb26fccd25fcce25fcd025fcd225fbd324"
    "fbd524fbd724fad824fada24f9dc24f9dd25f8df25f8e125f7e225f7e425f6e626f6e826f5e926f5eb27f4ed27f3ee27f3f027f2f227"
    "f1f426f1f525f0f724f0f921"
)
TURBO = (
    "30123b32154333184a341b51351e5836215f37246638276d392a733a2d793b2f803c32863d358b3e38913f3b973f3e9c4040a24143a7"
    "4146ac4249b1424bb5434eba4451bf4454c34456c74559cb455ccf455ed34661d64664da4666dd4669e0466be3476ee64771e94773eb"
    "4776ee4778f0477bf2467df44680f64682f84685fa4687fb458afc458cfd448ffe4391fe4294ff4196ff4099ff3e9bfe3d9efe3ba0fd"
    "3aa3fc38a5fb37a8fa35abf833adf731aff52fb2f42eb4f22cb7f02ab9ee28bceb27bee925c0e723c3e422c5e220c7df1fc9dd1ecbda"
    "1ccdd81bd0d51ad2d21ad4d019d5cd18d7ca18d9c818dbc518ddc218dec018e0bd19e2bb19e3b91ae4b61ce6b41de7b21fe9af20eaac"
    "22ebaa25eca727eea42aefa12cf09e2ff19b32f29835f39438f4913cf58e3ff68a43f78746f8844af8804ef97d52fa7a55fa7659fb73"
    "5dfc6f61fc6c65fd6969fd666dfe6271fe5f75fe5c79fe597dff5680ff5384ff5188ff4e8bff4b8fff4992ff4796fe4499fe429cfe40"
    "9ffd3fa1fd3da4fc3ca7fc3aa9fb39acfb38affa37b1f936b4f836b7f735b9f635bcf534bef434c1f334c3f134c6f034c8ef34cbed34"
    "cdec34d0ea34d2e935d4e735d7e535d9e436dbe236dde037dfdf37e1dd37e3db38e5d938e7d739e9d539ebd339ecd13aeecf3aefcd3a"
    "f1cb3af2c93af4c73af5c53af6c33af7c13af8be39f9bc39faba39fbb838fbb637fcb336fcb136fdae35fdac34fea933fea732fea431"
    "fea130fe9e2ffe9b2dfe992cfe962bfe932afe9029fd8d27fd8a26fc8725fc8423fb8122fb7e21fa7b1ff9781ef9751df8721cf76f1a"
    "f66c19f56918f46617f36315f26014f15d13f05b12ef5811ed5510ec530feb500eea4e0de84b0ce7490ce5470be4450ae2430ae14109"
    "df3f08dd3d08dc3b07da3907d83706d63506d43305d23105d02f05ce2d04cc2b04ca2a04c82803c52603c32503c12302be2102bc2002"
    "b91e02b71d02b41b01b21a01af1801ac1701a91601a71401a41301a112019e10019b0f01980e01950d01920b018e0a018b0902880802"
    "8507028106027e05027a0403"
)


def pick_colour(scale: str, share: float) -> str:
    """Return the colour at a share of a scale, from its start (0) to its end (1)."""
    n = len(scale) // 6
    start = 6 * min(int(share * n), n - 1)
    return f"#{scale[start : start + 6]}"


ROWS, COLUMNS = "#0067A5", "#C1440E"  # colour-blind readers see the difference
GREY = "0.45"
VARIABLES = ("#0067A5", "#C1440E", "#2A8B57", "#8E4B9E", "#B8860B", "#444444", "#00A0B0", "#D0508B")


def choose_class_colours(values: np.ndarray, nominal: bool = False) -> dict[Any, str]:
    """Choose colours that can be read as text: from dark to light where classes are numbers, otherwise far apart.

    Parameters
    ----------
    values : ndarray
        The class of each of any number of things.
    nominal : bool
        Whether numbers are mere names, such as digits to be recognised.
    """
    distinct = sorted(set(values.tolist()), key=str)
    if all(map(_is_number, distinct)):
        distinct.sort(key=float)
        if not nominal:
            last = max(1, len(distinct) - 1)  # the lightest 15 % of the scale cannot be read
            return {value: pick_colour(PLASMA, 0.85 * i / last) for i, value in enumerate(distinct)}
    return dict(zip(distinct, list_distinct_colours(len(distinct)), strict=True))


def _is_number(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False


def choose_scene_colours(known: np.ndarray, classes: Any) -> dict[Any, str]:
    """Choose the same colours for the same known classes, whichever of them occur.

    Parameters
    ----------
    known : ndarray
        The classes of a classifier.
    classes : array-like or None
        What is shown; if that is something else than the known classes, it has colours of its own.
    """
    values = np.asarray(classes, dtype=object)
    if classes is None or values.ndim != 1:
        return {}
    is_known = len(known) > 0 and set(values.tolist()) - {None} <= set(known.tolist())
    return choose_class_colours(known if is_known else values, nominal=is_known)


def list_distinct_colours(n: int) -> list[str]:
    """List colours far from each other: ten, the same in two other shades, or for more a rainbow."""
    if n > 30:
        return [pick_colour(TURBO, i / (n - 1)) for i in range(n)]
    colours = []
    for i in range(n):
        shade = (1.0, 0.55, 0.8)[i // 10]
        start = 6 * (i % 10)
        parts = (int(TAB10[at : at + 2], 16) / 255 for at in range(start, start + 6, 2))
        colours.append("#" + "".join(f"{round(255 * (shade * part)):02x}" for part in parts))
    return colours


def list_variable_colours(n: int) -> list[str]:
    """List colours of variables that can be read as text: of few, those that colour-blind readers tell apart."""
    return (
        list(VARIABLES[:n]) if n <= len(VARIABLES) else [darken_colour(colour) for colour in list_distinct_colours(n)]
    )


MIN_TEXT_CONTRAST = 3.8  # of the luminances of paper and ink, by WCAG
MAX_DARK_LUMINANCE = 0.179  # from which black and white have the same contrast


def darken_colour(colour: str) -> str:
    """Return a colour as dark as texts on white paper need it."""
    parts = _split_colour(colour)
    while 1.05 / (_compute_luminance(parts) + 0.05) < MIN_TEXT_CONTRAST:
        parts = 0.95 * parts
    return _to_hex(parts)


def lighten_colour(colour: str) -> str:
    """Return a colour as light as texts on black paper need it."""
    parts = _split_colour(colour)
    while (_compute_luminance(parts) + 0.05) / 0.05 < MIN_TEXT_CONTRAST:
        parts = 0.05 + 0.95 * parts
    return _to_hex(parts)


def is_dark(colour: str) -> bool:
    """Tell whether white stands out more from a colour than black does."""
    return _compute_luminance(_split_colour(colour)) < MAX_DARK_LUMINANCE


def _split_colour(colour: str) -> np.ndarray:
    return np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255


def _to_hex(parts: np.ndarray) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def _compute_luminance(parts: np.ndarray) -> float:
    """Compute the relative luminance of red, green and blue, each from 0 to 1, as WCAG defines it."""
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
