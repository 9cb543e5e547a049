"""Claims of Bun and Steinke, "Concentrated Differential Privacy"."""
