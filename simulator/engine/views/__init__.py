"""The adversary's view, its replay, and its transcript."""
