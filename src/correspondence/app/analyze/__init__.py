"""The main job: from a file to a decomposition, a page, tables and sentences.

`roles` says which column is which variable and `variables` what it holds, `inputs` reads a file into both, `job`
analyses them, `files` writes the result, `texts` tells it, `embedding` places new data.
"""

from correspondence.app.analyze.embedding import Embedding, Model, embed, load_model, write_columns
from correspondence.app.analyze.files import check_folder, to_json, write
from correspondence.app.analyze.inputs import Data, Request, read
from correspondence.app.analyze.job import SAVED, Analysis, Component, analyze
from correspondence.app.analyze.terminal import told

__all__ = [
    "SAVED",
    "Analysis",
    "Component",
    "Data",
    "Embedding",
    "Model",
    "Request",
    "analyze",
    "check_folder",
    "embed",
    "load_model",
    "read",
    "to_json",
    "told",
    "write",
    "write_columns",
]
