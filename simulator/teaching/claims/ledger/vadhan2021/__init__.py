"""Claims of Vadhan and Wang, "Concurrent Composition of Differential Privacy"."""
