"""Two processes that compute together, started once for many tests."""

import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
from forks import get_context


class Ranks:
    """Call it with a function, which each process runs with the same arguments; their results, in their order."""

    def __init__(self, folder, size=2):
        context = get_context()
        self.size, self.pipes, self.processes = size, [], []
        for rank in range(size):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there, rank, size, str(folder / "store")), daemon=True)
            process.start()
            self.pipes.append(here)
            self.processes.append(process)

    def __call__(self, function, *args):
        for pipe in self.pipes:
            pipe.send((function, args))
        answers = [pipe.recv() if pipe.poll(120) else (False, "no answer") for pipe in self.pipes]
        failures = [answer for is_fine, answer in answers if not is_fine]
        assert not failures, "\n".join(failures)
        return [answer for _, answer in answers]

    def close(self):
        for pipe in self.pipes:
            pipe.send(None)
        for process in self.processes:
            process.join(10)
            if process.is_alive():
                process.kill()


def _serve(pipe, rank, size, store):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=size, timeout=timedelta(seconds=60)
    )
    while (task := pipe.recv()) is not None:
        function, args = task
        try:
            pipe.send((True, function(*args)))
        except Exception:
            pipe.send((False, f"rank {rank}: {traceback.format_exc()}"))
    dist.destroy_process_group()
