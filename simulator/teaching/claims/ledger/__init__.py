"""The claims: a folder for each set of lecture notes, and ``papers`` by theme."""
