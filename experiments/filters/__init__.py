"""``make filters``: the rounds that certified and published filters admit."""
