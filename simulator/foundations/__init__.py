"""What every room stands on: errors, checks on plain values, random generators, files, progress."""
