"""Code shared by the checks of several sources: adversaries, exact values, laws of views."""
