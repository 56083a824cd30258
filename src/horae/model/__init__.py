"""The bottom layer: types and pure functions. No I/O, no clock, nothing to mock."""
