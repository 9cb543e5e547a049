"""Claims of Vadhan, "The Complexity of Differential Privacy"."""
