"""Studies: the tables and figures of the paper, computed again and set beside the exact values.

Each study is one file with a function ``run_study(settings) -> Report`` that calls public names of the package;
`reproducing` runs one or all of them and writes what they found. To add a study, write its file and enter it in
`catalogue` and `reproducing`.
"""
