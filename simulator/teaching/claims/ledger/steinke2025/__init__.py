"""Claims of Steinke and others, "The Last Iterate Advantage"."""
