"""``python -m correspondence`` is the command ``correspondence``."""

from correspondence.app.cli import main

if __name__ == "__main__":
    main(prog_name="correspondence")
