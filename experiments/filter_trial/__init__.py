"""``make filter-trial``: filters of recent papers and odometers, against the worst adversaries."""
