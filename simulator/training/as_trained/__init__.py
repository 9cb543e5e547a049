"""DP-SGD as it is trained: what accountants claim of a training, and what its loader loses."""
