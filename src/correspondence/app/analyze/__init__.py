"""The main job: from a file to a decomposition, a page, tables and sentences.

`roles` finds which column is which variable and `variables` what it holds, `inputs` reads a file into both, `job`
analyses them, `files` writes the result, `terminal` formats it, `embedding` places new data.
"""
