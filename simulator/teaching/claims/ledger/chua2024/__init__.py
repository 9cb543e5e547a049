"""Claims of Chua and others, "How Private are DP-SGD Implementations?"."""
