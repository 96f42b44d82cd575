"""The main job: from a file to a decomposition, a page, tables and sentences."""
