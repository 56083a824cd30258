"""Become PostgreSQL: step down from root, bind our life to the parent's, and exec.

Run as a program of its own (`python -I -S launch.py UID GID PARENT PROGRAM ARGUMENT …`) because the alternative, Python
code between fork and exec in a process with threads, may deadlock. It imports nothing of Horae.

When the parent dies, even by SIGKILL, Linux sends PostgreSQL a SIGINT: a fast, clean shutdown. The order matters: the
kernel forgets the wish when the process changes its user. Elsewhere the next start stops the orphan.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def step_down(uid: int, gid: int) -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)


def die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != parent:
        sys.exit("the parent ended before PostgreSQL began")


def main() -> None:
    uid, gid, parent = map(int, sys.argv[1:4])
    step_down(uid, gid)
    die_with(parent)
    os.umask(0o077)
    os.execv(sys.argv[4], sys.argv[4:])  # noqa: S606 there is no shell, by intention


if __name__ == "__main__":
    main()
