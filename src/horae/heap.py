"""How programs that run for months keep their memory, so that they do not grow.

Other C libraries than glibc have none of these settings, and are left alone.
"""

import ctypes
import gc
import sys
from functools import cache
from typing import Final

_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
LARGE_BYTES: Final = 128 * 1024
PASSING_NAMES: Final = 100_000
"""More than there is room for in a table of all names of a server."""


def keep_large_blocks_apart() -> None:
    """Lets glibc take large blocks from the system and give them back one by one, as it does at first.

    Left alone, it cuts them out of its heap once it has freed one, and small blocks that come to lie between them keep
    the heap from shrinking: an agent under a mixed load grew by 17 MB a day.
    """
    _set(_M_MMAP_THRESHOLD, LARGE_BYTES)


def share_one_heap() -> None:
    """Lets all threads take from one heap.

    Left alone, glibc makes one for each thread that finds the others in use, up to eight a processor, and keeps it: a
    server grew by half a megabyte whenever one more of its threads did.
    """
    _set(_M_ARENA_MAX, 1)


def settle_names() -> None:
    """Lets CPython's table of names have the size now that it would come to after a while. To be called when all is
    imported.

    Names that come and go use up its room, though none of them stays. When it is used up it is made anew, for three
    times as many as are in it: left alone, a server takes a megabyte more in its 44th minute, from one to the next.
    """
    for number in range(PASSING_NAMES):
        sys.intern(f"{number} comes and goes")


def give_back() -> None:
    """Gives the system what nobody uses, wherever it lies.

    Python keeps tuples that are over for later, up to two thousand of each length, and lets go of them only when its
    collector looks through everything, which a server otherwise hardly ever does. Left alone, that takes hours to come
    to an end, at some megabytes. And glibc gives back only what is free at the end of a heap, where something small
    always lies.
    """
    gc.collect()
    if trim := getattr(_c_library(), "malloc_trim", None):
        trim(0)


def _set(option: int, value: int) -> None:
    if mallopt := getattr(_c_library(), "mallopt", None):
        mallopt(option, value)


@cache
def _c_library() -> ctypes.CDLL:
    """Once: each is a class more, and a cycle."""
    return ctypes.CDLL(None)
