"""Small tables that come with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from correspondence.data.table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Children",
    "Dune",
    "load_children",
    "load_dune",
    "load_hair_eye",
    "load_housetasks",
    "load_poison",
    "load_smoke",
    "parse_table",
]


def load_smoke() -> Table:
    """Load staff groups x smoking habits of a firm: 5 x 4, n = 193 (Greenacre 1984).

    The rows are senior and junior managers, senior and junior employees, and secretaries.

    Returns
    -------
    Table
        The rows are groups, the columns habits.

    Examples
    --------
    >>> import correspondence as co
    >>> co.datasets.load_smoke()
    Table of 5 rows x 4 columns, 20 nonzero cells, total 193
    """
    return parse_table("""
              none light medium heavy
        SM       4     2      3     2
        JM       4     3      7     4
        SE      25    10     12     4
        JE      18    24     33    13
        SC      10     6      7     2
    """)


def load_housetasks() -> Table:
    """Load household tasks x who does them in a couple: 13 x 4, n = 1744 (as in R's ade4 and factoextra).

    Returns
    -------
    Table
        The rows are tasks, the columns persons.

    Examples
    --------
    >>> import correspondence as co
    >>> co.datasets.load_housetasks().columns.tolist()
    ['Wife', 'Alternating', 'Husband', 'Jointly']
    """
    return parse_table("""
                   Wife Alternating Husband Jointly
        Laundry     156          14       2       4
        Main_meal   124          20       5       4
        Dinner       77          11       7      13
        Breakfeast   82          36      15       7
        Tidying      53          11       1      57
        Dishes       32          24       4      53
        Shopping     33          23       9      55
        Official     12          46      23      15
        Driving      10          51      75       3
        Finances     13          13      21      66
        Insurance     8           1      53      77
        Repairs       0           3     160       2
        Holidays      0           1       6     153
    """)


def load_hair_eye() -> Table:
    """Load hair colour x eye colour of 592 statistics students: 4 x 4 (Snee 1974).

    Returns
    -------
    Table
        The rows are hair colours, the columns eye colours.

    Examples
    --------
    >>> import correspondence as co
    >>> co.datasets.load_hair_eye()
    Table of 4 rows x 4 columns, 16 nonzero cells, total 592
    """
    return parse_table("""
              Brown Blue Hazel Green
        Black    68   20    15     5
        Brown   119   84    54    29
        Red      26   17    14    14
        Blond     7   94    10    16
    """)


class Children(NamedTuple):
    """The table of `load_children` and its supplementary parts.

    Attributes
    ----------
    table : Table
        The rows are reasons, the columns levels of education.
    rows : Table
        These rows are more reasons.
    columns : Table
        These columns are ages.
    """

    table: Table
    rows: Table
    columns: Table


def load_children() -> Children:
    """Load reasons not to have children x level of education: 14 x 5, with 4 supplementary rows and 3 columns (age).

    The data are from Traversat and Roche, as in R's FactoMineR. The supplementary rows are known only by education.

    Returns
    -------
    Children
        The table, and the supplementary rows and columns.

    Examples
    --------
    >>> import correspondence as co
    >>> children = co.datasets.load_children()
    >>> ca = co.CA(n_components=2).fit(children.table)
    >>> ca.supplementary(columns=children.columns).principal.shape
    (3, 2)
    """
    whole = parse_table("""
                      unqualified cep bepc high_school_diploma university thirty fifty more_fifty
        money                  51  64   32                  29         17     59    66         70
        future                 53  90   78                  75         22    115   117         86
        unemployment           71 111   50                  40         11     79    88        177
        circumstances           1   7    5                   5          4      9     8          5
        hard                    7  11    4                   3          2      2    17         18
        economic                7  13   12                  11         11     18    19         17
        egoism                 21  37   14                  26          9     14    34         61
        employment             12  35   19                   6          7     21    30         28
        finances               10   7    7                   3          1      8    12          8
        war                     4   7    7                   6          2      7     6         13
        housing                 8  22    7                  10          5     10    27         17
        fear                   25  45   38                  38         13     48    59         52
        health                 18  27   20                  19          9     13    29         53
        work                   35  61   29                  14         12     30    63         58
        comfort                 2   4    3                   1          4      0     0          0
        disagreement            2   8    2                   5          2      0     0          0
        world                   1   5    4                   6          3      0     0          0
        to_live                 3   3    1                   3          4      0     0          0
    """)

    def cut_table(rows: slice, columns: slice) -> Table:
        return Table(whole.counts[rows, columns], whole.rows[rows], whole.columns[columns])

    return Children(
        cut_table(slice(14), slice(5)), cut_table(slice(14, None), slice(5)), cut_table(slice(14), slice(5, None))
    )


# Rows are species here: they are more than the sites.
DUNE_COVER = """
          1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20
Achimill  1  3  0  0  2  2  2  0  0  4  0  0  0  0  0  0  2  0  0  0
Agrostol  0  0  4  8  0  0  0  4  3  0  0  4  5  4  4  7  0  0  0  5
Airaprae  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  2  0  3  0
Alopgeni  0  2  7  2  0  0  0  5  3  0  0  8  5  0  0  4  0  0  0  0
Anthodor  0  0  0  0  4  3  2  0  0  4  0  0  0  0  0  0  4  0  4  0
Bellpere  0  3  2  2  2  0  0  0  0  2  0  0  0  0  0  0  0  2  0  0
Bromhord  0  4  0  3  2  0  2  0  0  4  0  0  0  0  0  0  0  0  0  0
Chenalbu  0  0  0  0  0  0  0  0  0  0  0  0  1  0  0  0  0  0  0  0
Cirsarve  0  0  0  2  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0
Comapalu  0  0  0  0  0  0  0  0  0  0  0  0  0  2  2  0  0  0  0  0
Eleopalu  0  0  0  0  0  0  0  4  0  0  0  0  0  4  5  8  0  0  0  4
Elymrepe  4  4  4  4  4  0  0  0  6  0  0  0  0  0  0  0  0  0  0  0
Empenigr  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  2  0
Hyporadi  0  0  0  0  0  0  0  0  0  0  2  0  0  0  0  0  2  0  5  0
Juncarti  0  0  0  0  0  0  0  4  4  0  0  0  0  0  3  3  0  0  0  4
Juncbufo  0  0  0  0  0  0  2  0  4  0  0  4  3  0  0  0  0  0  0  0
Lolipere  7  5  6  5  2  6  6  4  2  6  7  0  0  0  0  0  0  2  0  0
Planlanc  0  0  0  0  5  5  5  0  0  3  3  0  0  0  0  0  2  3  0  0
Poaprat   4  4  5  4  2  3  4  4  4  4  4  0  2  0  0  0  1  3  0  0
Poatriv   2  7  6  5  6  4  5  4  5  4  0  4  9  0  0  2  0  0  0  0
Ranuflam  0  0  0  0  0  0  0  2  0  0  0  0  2  2  2  2  0  0  0  4
Rumeacet  0  0  0  0  5  6  3  0  2  0  0  2  0  0  0  0  0  0  0  0
Sagiproc  0  0  0  5  0  0  0  2  2  0  2  4  2  0  0  0  0  0  3  0
Salirepe  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  3  3  5
Scorautu  0  5  2  2  3  3  3  3  2  3  5  2  2  2  2  0  2  5  6  2
Trifprat  0  0  0  0  2  5  2  0  0  0  0  0  0  0  0  0  0  0  0  0
Trifrepe  0  5  2  1  2  5  2  2  3  6  3  3  2  6  1  0  0  2  2  0
Vicilath  0  0  0  0  0  0  0  0  0  1  2  0  0  0  0  0  0  1  0  0
Bracruta  0  0  2  2  2  6  2  2  2  2  4  4  0  0  4  4  0  6  3  4
Callcusp  0  0  0  0  0  0  0  0  0  0  0  0  0  4  0  3  0  0  0  3
"""
DUNE_ENVIRONMENT = {
    "A1": "2.8 3.5 4.3 4.2 6.3 4.3 2.8 4.2 3.7 3.3 3.5 5.8 6.0 9.3 11.5 5.7 4.0 4.6 3.7 3.5",
    "Moisture": "1 1 2 2 1 1 1 5 4 2 1 4 5 5 5 5 2 1 5 5",
    "Management": "SF BF SF SF HF HF HF HF HF BF BF SF SF NM NM SF NM NM NM NM",
    "Use": "Haypastu Haypastu Haypastu Haypastu Hayfield Haypastu Pasture Pasture Hayfield Hayfield "
    "Pasture Haypastu Haypastu Pasture Haypastu Pasture Hayfield Hayfield Hayfield Hayfield",
    "Manure": "4 2 4 4 2 2 3 3 1 1 1 2 3 0 0 3 0 0 0 0",
}
DUNE_LEVELS = {
    "Moisture": ("1", "2", "4", "5"),
    "Use": ("Hayfield", "Haypastu", "Pasture"),
    "Manure": ("0", "1", "2", "3", "4"),
}


class Dune(NamedTuple):
    """The table of `load_dune` and the environment of its sites.

    Attributes
    ----------
    table : Table
        The rows are sites, the columns species; the cover of each species is a grade from 0 to 9.
    environment : polars.DataFrame
        One row for each site: its name, the depth of the A1 horizon, and the ordered Moisture, the Management
        (biological farming, hobby farming, nature management, standard farming), and the ordered Use and Manure.
    """

    table: Table
    environment: pl.DataFrame


def load_dune() -> Dune:
    """Load the vegetation of 20 dune meadows: sites x 30 species, with their environment (Jongman et al. 1987).

    The names of species are four letters of the genus and of the species, as in R's vegan.

    Returns
    -------
    Dune
        The table and the environment.

    Examples
    --------
    >>> import correspondence as co
    >>> dune = co.datasets.load_dune()
    >>> dune.table
    Table of 20 rows x 30 columns, 197 nonzero cells, total 685
    >>> dune.environment.columns
    ['site', 'A1', 'Moisture', 'Management', 'Use', 'Manure']
    """
    import polars as pl

    table = parse_table(DUNE_COVER).T
    columns: dict[str, Any] = {name: values.split() for name, values in DUNE_ENVIRONMENT.items()}
    frame = pl.DataFrame({"site": table.rows.tolist()} | columns).with_columns(
        pl.col("A1").cast(pl.Float64), *(pl.col(name).cast(pl.Enum(levels)) for name, levels in DUNE_LEVELS.items())
    )
    return Dune(table, frame)


def parse_table(text: str) -> Table:
    """Parse a table typed into this module."""
    columns, *rows = (line.split() for line in text.strip().splitlines())
    counts = np.array([[int(cell) for cell in cells] for _, *cells in rows])
    return Table(counts, np.array([name for name, *_ in rows], object), np.array(columns, object))


POISON_SYMPTOMS = ("Nausea", "Vomiting", "Abdominals", "Fever", "Diarrhoea")
POISON_FOODS = ("Potato", "Fish", "Mayonnaise", "Courgette", "Cheese", "Icecream")

# Age, hours until sick, sick (y/n), sex, then a letter for each symptom and food.
POISON_ROWS = """
9 22 y F ynyyyyyyyyy; 5 0 n F nnnnnyyyyny; 6 16 y F nyyyyyyyyyy; 9 0 n F nnnnnyynyyy; 7 14 y M nyyyyyyyyyy
72 9 y M nnyyyynyyyy; 5 16 y F nyyyyyyyyyy; 10 8 y F yyyyyyyyyyy; 5 20 y M ynyyyyyyyyy; 11 12 y M nynyyyyyyyy
7 17 y F yyyyyyyyyyy; 10 16 y F nyynnyyyyyy; 36 19 y F nnyyyyyyyyy; 9 0 n F nnnnnyynyyy; 8 0 n M nnnnnyynyny
6 6 y F nyyyyyyyyyy; 7 10 y M nyyyyyyyyny; 5 15 y M yyyyyyyyyyy; 11 14 y F nyyyyyyyyyy; 11 0 n F nnnnnyynyyy
10 18 y M nnyyyyyyyyy; 8 14 y F nnyyyyyyyyn; 8 21 y F nyyyyyyynyy; 11 13 y M nyynyyyyyyy; 45 10 y F nnyyyyyyyny
9 0 n M nnnnnyyyyyy; 5 12 y F nyyynyyyyyy; 85 9 y M nyyyyyynnyy; 88 0 n F nnnnnyyyyyy; 79 17 y F yyyyyyyyyyy
9 9 y F nnyyyyynyyy; 6 0 n M nnnnnyynyny; 8 0 n F nnnnnyyyyyy; 8 0 n M nnnnnyyyyyy; 7 15 y F ynyyynyyyyy
9 19 y M yyyyyyyyyyy; 9 11 y M ynynynyyyyy; 6 0 n F nnnnnyyynny; 5 17 y M nnyyynyyyyy; 6 16 y M yyyyyyyyyyy
4 12 y M ynyyyyyyyyy; 7 0 n M nnnnnyyyyyy; 82 20 y F nnyyyyyyyyy; 5 4 y F yyyyyyyynyn; 5 20 y M nyyyyyyynyy
6 16 y M nnyyyyyyyyy; 10 0 n M nnnnnyynyyn; 83 0 n M nnnnnyyyyyy; 8 0 n F nnnnnyyyyyy; 7 22 y F nnyyyyyyyyy
10 0 n M nnnnnyynyyy; 11 17 y M nnyyyyyyyyy; 6 0 n F nnnnnyynynn; 10 19 y M nyyynyyyyyy; 7 14 y M nyyyyyyyyyy
"""


def load_poison() -> pl.DataFrame:
    """Load a survey of 55 people, mostly children, after a school meal: symptoms, and what they ate.

    The survey comes with R's FactoMineR (``poison``). The answers are "yes" and "no".

    Returns
    -------
    polars.DataFrame
        The columns Age and Time (hours until the person fell sick, 0 for the others) are numbers; Sick, Sex, five
        symptoms and six foods are answers.

    Examples
    --------
    >>> load_poison().shape
    (55, 15)
    >>> load_poison()["Fever"].value_counts(sort=True).rows()
    [('yes', 35), ('no', 20)]
    """
    import polars as pl

    words = {"y": "yes", "n": "no"}
    rows = [row.split() for row in POISON_ROWS.replace("\n", ";").split(";") if row.strip()]
    columns: dict[str, list[Any]] = {
        "Age": [int(row[0]) for row in rows],
        "Time": [int(row[1]) for row in rows],
        "Sick": [words[row[2]] for row in rows],
        "Sex": [row[3] for row in rows],
    }
    for j, name in enumerate((*POISON_SYMPTOMS, *POISON_FOODS)):
        columns[name] = [words[row[4][j]] for row in rows]
    return pl.DataFrame(columns)
