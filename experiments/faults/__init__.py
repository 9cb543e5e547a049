"""Runs that are killed, damaged or short of resources on purpose, and counts of what resumes."""
