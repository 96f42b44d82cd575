"""Promises of the library, each measured on data sets whose truth is known; `benchmarks/truth.py` is the command.

`ledger` keeps what was measured, `verdicts` turns it into lines of a table, `tables` writes them. `designs` and `exact`
hold the data sets, `calls` the calls of the library and `peers` the methods of others. Every other module is a promise.
"""
