"""Training a model of pairs in files, by one process or several, that survives the death of any of them.

`job` says what is asked for, `inputs` reads it, `work` trains and writes in each process, `launch` starts the processes
and watches over them.
"""

from correspondence.app.train.launch import TrainingError, check_torch, is_first, is_worker, launch, work_as_one_of
from correspondence.app.train.options import CHECKPOINT, LOGS, Job
from correspondence.app.train.terminal import Progress, told

__all__ = [
    "CHECKPOINT",
    "LOGS",
    "Job",
    "Progress",
    "TrainingError",
    "check_torch",
    "is_first",
    "is_worker",
    "launch",
    "told",
    "work_as_one_of",
]
