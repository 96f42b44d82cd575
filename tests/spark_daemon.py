"""What Spark forks its workers from: it has imported what each of them would import anew."""

import numpy  # noqa: F401
import pandas  # noqa: F401
import pyarrow  # noqa: F401
from pyspark import daemon

import correspondence as co

co.ACE, co.ClassifierCA, co.Pairs  # noqa: B018

if __name__ == "__main__":
    daemon.manager()
