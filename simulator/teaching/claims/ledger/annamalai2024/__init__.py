"""Claims of Annamalai and others, "To Shuffle or not to Shuffle"."""
