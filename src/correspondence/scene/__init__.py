"""What a picture of any kind shows, before it is drawn."""
