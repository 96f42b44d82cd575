"""What pytest leaves alone here: it runs the pages, while scripts, tutorials and what Sphinx writes are not for it."""

collect_ignore_glob = ["*.py", "_build/*", "generated/*"]
