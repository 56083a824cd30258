"""Bugs to plant, each a function that breaks this process when it is called. `..planted` has the list."""
