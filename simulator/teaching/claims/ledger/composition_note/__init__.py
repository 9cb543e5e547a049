"""Claims of the note on composition theorems (in Chinese)."""
