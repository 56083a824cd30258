"""Memory goes back to the system when it is free, and threads have no heaps of their own."""

import ctypes
import subprocess
import sys

import pytest

MALLINFO = """
import ctypes, sys
from horae.heap import LARGE_BYTES, keep_large_blocks_apart, settle_names

class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Mallinfo2
"""
LARGE = f"""{MALLINFO}
{{setting}}
before = mallinfo().hblks
bytes(64 * LARGE_BYTES)
block = bytes(64 * LARGE_BYTES)
print(mallinfo().hblks - before)
"""
NAMES = f"""{MALLINFO}
import horae.server.serving

keep_large_blocks_apart()
{{setting}}
before = mallinfo().hblkhd
for number in range(30_000):
    sys.intern(f"name {{{{number}}}}")
print(mallinfo().hblkhd - before)
"""
THREADS = """
import ctypes, tempfile, threading
from horae.heap import share_one_heap

libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
{setting}
thread = threading.Thread(target=libc.malloc, args=(1000,))
thread.start()
thread.join()
with tempfile.NamedTemporaryFile() as file:
    stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    print(file.read().count(b"<heap "))
"""

HOLES = """
import os
from horae.heap import give_back

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

blocks = [bytes(1000) for _ in range(50_000)]
kept = blocks[::1000]
del blocks
before = resident()
{setting}
print((before - resident()) // 2**20)
"""

KEPT = """
import gc, sys
from horae.heap import give_back

give_back()
gc.disable()
before = sys.getallocatedblocks()
for length in range(1, 20):
    tuples = [tuple([number] * length) for number in range(2000)]
    del tuples
{setting}
print(sys.getallocatedblocks() - before)
"""
TWICE = """
import gc
from horae.heap import give_back

give_back()
before = len(gc.get_objects())
gc.disable()
gc.collect = lambda: None
for _ in range(100):
    {setting}
print(len(gc.get_objects()) - before)
"""


def printed(look: str, setting: str) -> int:
    command = [sys.executable, "-c", look.format(setting=setting)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="other C libraries have neither settings nor figures"
)


@pytest.mark.parametrize(("setting", "apart"), [("keep_large_blocks_apart()", 1), ("", 0)])
def test_a_large_block_lies_apart_from_the_heap_though_one_was_freed_before(setting, apart):
    """Without the setting it does not: if that changes, the setting is no longer needed.

    The blocks are larger than any that the import may have left free in the heap.
    """
    assert printed(LARGE, setting) == apart


@pytest.mark.parametrize(("setting", "heaps"), [("share_one_heap()", 1), ("", 2)])
def test_a_thread_takes_from_the_heap_that_is_there(setting, heaps):
    """Without the setting it has one of its own."""
    assert printed(THREADS, setting) == heaps


def test_what_is_free_between_blocks_that_stay_is_given_back():
    """Some 48 MB lie free in the heap, and a small block at its end."""
    assert printed(HOLES, "give_back()") > 40
    assert printed(HOLES, "") < 1


def test_tuples_that_are_over_are_not_kept_for_later():
    """Without the setting thousands are: if that changes, the collector need not look through everything."""
    assert printed(KEPT, "give_back()") < 1000
    assert printed(KEPT, "") > 10_000


def test_names_that_come_and_go_take_nothing_more():
    """Without the setting they do, some time or other: if that changes, it is no longer needed."""
    assert printed(NAMES, "settle_names()") == 0
    assert printed(NAMES, "") > 500_000


def test_giving_back_leaves_nothing_itself():
    """What it made each time stayed until the collector came by."""
    assert printed(TWICE, "give_back()") < 20
