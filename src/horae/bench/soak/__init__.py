"""Endurance: a mixed load for hours on a throw-away Horae, and for everything that could grow, whether it does."""
