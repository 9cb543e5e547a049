"""Claims of Zhang 2020, USTC lecture 7."""
