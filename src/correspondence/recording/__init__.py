"""A classifier while it is trained: the recorder of its beliefs, and the movie of them."""
