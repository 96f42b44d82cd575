"""From data of any kind to numbers: columns of tables, bags of words and texts, images, numbers as they are."""
