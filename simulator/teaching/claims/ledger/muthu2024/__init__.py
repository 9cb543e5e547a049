"""Claims of Annamalai on hidden states of DP-SGD, "It's Our Loss"."""
