"""Train a model on pairs in files, in one process or several, and survive the death of any of them.

`options` holds the job, `inputs` reads the pairs, `worker` trains and writes in each process, `launch` starts the
processes and watches over them, `terminal` shows how far they are.
"""
