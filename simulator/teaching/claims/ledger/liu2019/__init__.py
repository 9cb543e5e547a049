"""Claims of Liu and Talwar, "Private Selection from Private Candidates"."""
