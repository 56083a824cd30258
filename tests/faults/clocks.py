"""The clock that these tests set is the soak's too: see `horae.testing.clocks`."""

from horae.testing.clocks import SettableClock, find_library

__all__ = ["SettableClock", "find_library"]
