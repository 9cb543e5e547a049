"""Claims of Feldman and Zrnic, "Individual Privacy Accounting via a Rényi Filter"."""
