"""Claims of Dong, Roth and Su, "Gaussian Differential Privacy"."""
