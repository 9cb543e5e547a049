"""Claims of Feldman and others, "Privacy Amplification by Iteration"."""
