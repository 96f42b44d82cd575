"""How long the start takes: CPU seconds of the import and of the command line, beside bare Python in the same run.

python benchmarks/startup.py
"""

import os
import subprocess
import sys
import time

REPEATS = 10
COMMANDS = {
    "bare Python": ["-c", "pass"],
    "import correspondence": ["-c", "import correspondence"],
    "correspondence --help": ["-m", "correspondence", "--help"],
    "completion of a command": ["-m", "correspondence"],
    "import correspondence; CA": ["-c", "import correspondence as co; co.CA"],
    "import numpy": ["-c", "import numpy"],
}
COMPLETION = {
    "_CORRESPONDENCE_COMPLETE": "bash_complete",
    "COMP_WORDS": "correspondence an",
    "COMP_CWORD": "1",
}


def measure(name: str, arguments: list[str]) -> float:
    """Return the least CPU seconds of several runs, which other work on the machine disturbs least."""
    environment = os.environ | (COMPLETION if name.startswith("completion") else {})
    return min(measure_once([sys.executable, *arguments], environment) for _ in range(REPEATS))


def measure_once(command: list[str], environment: dict[str, str]) -> float:
    before = os.times()
    subprocess.run(command, env=environment, capture_output=True, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    bare = measure("bare Python", COMMANDS["bare Python"])
    print(f"{'':28}CPU seconds  beyond bare Python   (load {os.getloadavg()[0]:.1f}, {time.strftime('%Y-%m-%d')})")
    for name, arguments in COMMANDS.items():
        seconds = measure(name, arguments)
        print(f"{name:28}{seconds:>11.3f}  {seconds - bare:>18.3f}")


if __name__ == "__main__":
    main()
