"""The commands of this shelf."""
