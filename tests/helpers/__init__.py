"""Games, oracles and cases that several tests share."""
