"""Claims of Chan, Shi and Song, "Private and Continual Release of Statistics"."""
