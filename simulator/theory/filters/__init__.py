"""Privacy filters and odometers."""
