"""JupyterLab and marimo as servers of a test: in a folder of their own, offline, and gone at its end."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

START_SECONDS, STOP_SECONDS = 60, 15
QUIET = {"notification": {"fetchNews": "false", "checkForUpdates": False}}


@contextmanager
def jupyterlab(folder, cells):
    """Serve a notebook of these cells; yields its address."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    listed = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
        for i, source in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": listed, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "test.ipynb").write_text(json.dumps(notebook))
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    for name, values in QUIET.items():
        (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(values))
    own = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime", "JUPYTER_DATA_DIR": "data"}
    own |= {"IPYTHONDIR": "ipython", "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}
    port = find_free_port()
    options = ["--no-browser", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    options += ["--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    options.append("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate")
    folders = {name: str(folder / each) for name, each in own.items()}
    with served(folder, ["jupyterlab", *options], port, folders):
        yield f"http://127.0.0.1:{port}/lab/tree/test.ipynb"


@contextmanager
def marimo(folder, app):
    """Serve a marimo app; yields its address."""
    pytest.importorskip("marimo", reason="marimo is not installed")
    (folder / "app.py").write_text(app)
    port = find_free_port()
    options = ["--headless", "--no-token", "--host", "127.0.0.1", "--port", str(port)]
    with served(folder, ["marimo", "-q", "run", str(folder / "app.py"), *options], port, {}):
        yield f"http://127.0.0.1:{port}/"


def find_free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def served(folder, command, port, variables):
    """Run a module as a server in a group of processes of its own, which is ended as a whole."""
    environment = os.environ | {"HOME": str(folder)} | variables
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", *command],
            env=environment,
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            wait_for_port(server, port, folder / "server.log")
            yield
        finally:
            end_group(server)


def wait_for_port(server, port, log):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"The server did not start: {log.read_text()[-2000:]}")


def end_group(server):
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, sign)
            server.wait(STOP_SECONDS)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
