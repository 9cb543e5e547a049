"""Claims of Properties of DP, chapter 5 (draft of 27 September 2021)."""
