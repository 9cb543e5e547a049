"""Claims of papers, by theme: a claim's id begins with the key of its paper."""
