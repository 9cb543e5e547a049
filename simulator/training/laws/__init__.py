"""Laws of the privacy loss of allocation at random and of shuffled batches."""
