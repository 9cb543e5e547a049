"""From samples of the privacy loss to estimates, rare events, verdicts and pictures."""
