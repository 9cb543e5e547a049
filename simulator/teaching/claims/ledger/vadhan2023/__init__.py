"""Claims of Vadhan and Zhang, "Concurrent Composition Theorems for Differential Privacy"."""
