"""Engines that play a rule over a menu as one compiled kernel."""
