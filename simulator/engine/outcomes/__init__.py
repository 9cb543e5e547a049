"""What blocks measure, added up in any order, and read back."""
