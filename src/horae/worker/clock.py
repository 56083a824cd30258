"""The worker's only clock. CLOCK_BOOTTIME goes on while the host is suspended, as the server's lease does.

It is the same in all processes of the host, so agent, children and keeper compare instants without asking each other.
"""

import time


def now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def now_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
