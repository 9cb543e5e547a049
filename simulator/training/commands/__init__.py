"""Commands of this shelf."""
