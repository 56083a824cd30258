"""Which control groups this host has, and whether the agent may make its own."""

import os
import secrets
from pathlib import Path
from typing import NamedTuple

from horae.worker.sandbox import cgroup1, cgroup2
from horae.worker.sandbox.cgroups import Hierarchy, group_name
from horae.worker.sandbox.limits import Bounds


class Found(NamedTuple):
    hierarchy: Hierarchy | None
    reason: str
    """Why there is none."""


def find_hierarchy(*, below_own: bool = True) -> Found:
    """Below the agent's own group, or else at the root of the tree, where a group has the same path in every tree of
    version 1. `below_own=False`: there at once."""
    found = _found(Path("/proc/self/cgroup").read_text()) if below_own else Found(None, "")
    return found if found.hierarchy is not None else _found("")


def _found(membership: str) -> Found:
    try:
        hierarchy = _find(Path("/proc/self/mountinfo").read_text(), membership)
        if hierarchy is None:
            return Found(None, "no control groups with memory, pids and cpu are mounted")
        _try_out(hierarchy)
    except OSError as error:
        return Found(None, f"control groups cannot be made: {error}; run as root, or by systemd with Delegate=yes")
    return Found(hierarchy, "")


def _find(mountinfo: str, membership: str) -> Hierarchy | None:
    second = cgroup2.find(mountinfo, cgroup2.own_path(membership))
    if second is not None:
        second.settle()
        return second
    return cgroup1.find(mountinfo, cgroup1.parse_membership(membership))


def _try_out(hierarchy: Hierarchy) -> None:
    name = group_name(f"trial{os.getpid()}", secrets.token_hex(4), 0)
    hierarchy.create(name, Bounds()).remove()
