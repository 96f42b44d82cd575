"""Functions applied to partitions by Spark."""

import pyarrow as pa
import pytest

from correspondence.data.pairs.on_spark import deserialise_table, map_spark, serialise_batches


def test_batches_are_packed_and_unpacked():
    batch = pa.RecordBatch.from_pydict({"a.b": [1, 2], "c": ["x", None]})
    packed = list(serialise_batches([batch, batch.slice(0, 0)]))
    assert len(packed) == 1
    assert deserialise_table(packed[0]["batch"][0].as_py()).to_batches()[0].equals(batch)


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_results_come_in_order_and_errors_are_those_of_the_function(spark):
    frame = spark.range(8).repartition(2).withColumnRenamed("id", "a.b")
    assert sum(map_spark(frame, lambda table, number: table.num_rows)) == 8

    def fail(table, number):
        raise ValueError("no good")

    with pytest.raises(ValueError, match="no good"):
        map_spark(frame, fail)
