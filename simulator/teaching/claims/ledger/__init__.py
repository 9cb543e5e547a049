"""The claims: a folder for each source."""
