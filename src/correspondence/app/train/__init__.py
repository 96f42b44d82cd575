"""Training a model of pairs in files, by one process or several, that survives the death of any of them.

`options` says what is asked for, `inputs` reads it, `worker` trains and writes in each process, `launch` starts the
processes and watches over them, `terminal` tells how far they are.
"""
