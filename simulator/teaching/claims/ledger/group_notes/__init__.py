"""Claims of the lecture notes on group privacy and composition."""
