"""What procedures return: plain records with their figures, which know nothing of how they were computed."""
