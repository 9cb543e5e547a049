"""The games of this package, one file each; they are found by their files."""
