"""Claims of Kifer and Machanavajjhala, "No Free Lunch in Data Privacy"."""
