"""Adversaries that train: DP-SGD with canaries, and the loaders of batches."""
