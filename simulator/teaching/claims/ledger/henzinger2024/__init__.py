"""Claims of Henzinger, Safavi and Vadhan on continual mechanisms."""
