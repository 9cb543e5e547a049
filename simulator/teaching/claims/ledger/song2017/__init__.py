"""Claims of Song, Wang and Chaudhuri, "Pufferfish Privacy Mechanisms for Correlated Data"."""
