"""Runs in a container: calls of the kernel that must be refused there. Prints what came of each."""

import ctypes
import errno
import json
import os
import platform
import sys

libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = json.loads(sys.argv[1])
"""name → number, on this architecture."""


def outcome(result):
    return "done" if result >= 0 else errno.errorcode.get(ctypes.get_errno(), str(ctypes.get_errno()))


def attempt(name, *arguments):
    ctypes.set_errno(0)
    return outcome(libc.syscall(ctypes.c_long(NUMBERS[name]), *(ctypes.c_long(value) for value in arguments)))


def family(number, protocol=0):
    ctypes.set_errno(0)
    return outcome(libc.socket(number, 3, protocol))


found = {name: attempt(name, 0, 0, 0, 0, 0, 0) for name in NUMBERS}
for name, flag in (("newuser", 0x10000000), ("newns", 0x20000), ("newnet", 0x40000000)):
    ctypes.set_errno(0)
    pid = libc.syscall(
        ctypes.c_long(56 if platform.machine() == "x86_64" else 220), ctypes.c_long(flag | 17), 0, 0, 0, 0
    )
    if pid == 0:
        os._exit(0)
    found[f"clone {name}"] = outcome(pid)
found["AF_ALG"], found["AF_VSOCK"], found["AF_PACKET"] = family(38), family(40), family(17)
found["audit"], found["route"] = family(16, 9), family(16, 0)
found["AF_INET"] = outcome(libc.socket(2, 1, 0))
ioctl = 16 if platform.machine() == "x86_64" else 29
for name, request in (("TIOCSTI", 0x5412), ("TIOCSTI with more bits", 0x1_0000_5412), ("TIOCGWINSZ", 0x5413)):
    ctypes.set_errno(0)
    byte = ctypes.create_string_buffer(64)
    found[name] = outcome(libc.syscall(ctypes.c_long(ioctl), ctypes.c_long(0), ctypes.c_long(request), byte))
found["personality"] = outcome(libc.personality(ctypes.c_ulong(0x0040000)))
print(json.dumps(found))
