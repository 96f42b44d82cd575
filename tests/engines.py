"""The same rows on every engine, parted in any way; a cluster of Dask and a session of Spark for tests."""

import contextlib
import itertools
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa

X = ["number", "other", "label", "heavy", "rare"]
Y = ["response", "second", "answer"]


def mixed(n, seed=0):
    """Table of numbers, labels (rare ones too), heavy tails and a number that is nearly always 0."""
    rng = np.random.default_rng(seed)
    number, other = rng.normal(size=(2, n))
    response = np.sin(2 * number) + 0.5 * other + 0.3 * rng.normal(size=n)
    label = np.where(number + rng.normal(size=n) > 0.5, "high", "low").astype(object)
    label[rng.choice(n, 3, replace=False)] = "rare"
    rare = np.zeros(n)
    rare[n // 2] = 1
    return pa.table(
        {
            "id": np.arange(n),
            "number": number,
            "other": other,
            "label": label.tolist(),
            "heavy": np.exp(3 * other + rng.normal(size=n)) * np.sign(rng.normal(size=n)),
            "rare": rare,
            "response": response,
            "second": number * other + rng.normal(size=n),
            "answer": np.where(response > 0, "a", np.where(response > -0.5, "b", "c")).tolist(),
        }
    )


def edges(n, parts):
    """Where partitions of unequal sizes begin and end; the second is empty if there are several."""
    inner = np.sort(np.random.default_rng(parts).integers(1, n, parts - 1))
    inner[1:2] = inner[:1]
    return [0, *inner.tolist(), n]


def on_dask(table, parts):
    import dask
    import dask.dataframe as dd

    bounds = edges(table.num_rows, parts)
    frames = [table.slice(a, b - a).to_pandas() for a, b in itertools.pairwise(bounds)]
    return dd.from_delayed([dask.delayed(frame) for frame in frames], meta=frames[0].iloc[:0], verify_meta=False)


def on_spark(spark, table, parts):
    """Frame whose partitions are those of `edges`: rows are dealt out by number, and sorted within."""
    from pyspark.sql import functions as sf

    bounds = edges(table.num_rows, parts)
    number = np.searchsorted(bounds, np.arange(table.num_rows), side="right") - 1
    frame = spark.createDataFrame(table.append_column("part", [number.astype(np.int32)]))
    return frame.repartitionById(parts, sf.col("part")).sortWithinPartitions("id").drop("part")


@contextlib.contextmanager
def dask_client(workers=2):
    from distributed import Client, LocalCluster

    settings = {
        "processes": True,
        "n_workers": workers,
        "threads_per_worker": 1,
        "dashboard_address": None,
        "silence_logs": 50,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with LocalCluster(**settings) as cluster, Client(cluster) as client:
            yield client


@contextlib.contextmanager
def spark_session():
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
        # Queries of few rows are run once: compiling them takes far longer than running them.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # Its Python workers are forked from a process that has done their imports.
        "spark.python.daemon.module": "spark_daemon",
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).parent),
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    yield spark
    spark.stop()
