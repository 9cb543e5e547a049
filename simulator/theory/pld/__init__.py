"""Privacy loss distributions: composition by transform, with certified brackets."""
