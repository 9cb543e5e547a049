"""What is played, and one block of it: (specification, b, block) gives an outcome."""
