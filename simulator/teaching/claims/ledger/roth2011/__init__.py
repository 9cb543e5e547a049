"""Claims of Roth 2011, Lecture 4."""
