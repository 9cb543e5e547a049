"""Filters whose budget is proved: plans, sampled Gaussians, their certificates and the checker."""
