"""Specifications of plays, and the engines that play their blocks."""
