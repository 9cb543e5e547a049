"""Claims of Papernot and Steinke, "Hyperparameter Tuning with Renyi Differential Privacy"."""
