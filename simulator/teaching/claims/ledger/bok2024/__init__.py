"""Claims of Bok, Su and Altschuler, "Shifted Interpolation for Differential Privacy"."""
