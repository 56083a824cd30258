"""The seccomp profile of containers, as engines read it: a list of what is allowed, everything else is not there.

It allows nothing that the filter of scripts refuses (`sandbox.syscalls`). Where arguments decide, the condition is
written as what is allowed, because an engine's library takes only one kind of answer beside the default. Calls that the
kernel reads as 32 bits are compared as 32 bits: the upper half could hold anything.
"""

import errno
import platform
from typing import Any, Final

from horae.model.errors import SetupError
from horae.worker.containers.calls import ALLOWED
from horae.worker.sandbox import syscalls

_HALF: Final = 0xFFFFFFFF


def make_profile(machine: str | None = None) -> dict[str, Any]:
    machine = machine or platform.machine()
    architecture = syscalls.ARCHITECTURES.get(machine)
    if architecture is None:
        known = " or ".join(syscalls.ARCHITECTURES)
        raise SetupError(f"there is no seccomp profile for {machine}; run containers on {known}")
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.ENOSYS,
        "architectures": [architecture.engine_name],
        "syscalls": [
            {"names": sorted(ALLOWED - set(syscalls.REFUSED)), "action": "SCMP_ACT_ALLOW"},
            {"names": sorted(syscalls.REFUSED), "action": "SCMP_ACT_ERRNO", "errnoRet": errno.EPERM},
            *_conditions(),
        ],
    }


def _conditions() -> list[dict[str, Any]]:
    rules = [_allow("clone", _masked(0, sum(syscalls.NAMESPACE_FLAGS), 0))]
    rules += [_allow("ioctl", comparison) for comparison in _neither(1, *syscalls.TYPING)]
    rules += [_allow("personality", _equal(0, syscalls.PLAIN_PERSONALITY))]
    rules += [_allow("socket", _equal(0, family)) for family in syscalls.FAMILIES if family != syscalls.AF_NETLINK]
    rules += [_allow("socket", _equal(0, syscalls.AF_NETLINK), _equal(2, syscalls.NETLINK_ROUTE))]
    rules += [_allow("socketpair", _equal(0, syscalls.FAMILIES[0]))]
    return rules


def _neither(argument: int, first: int, second: int) -> list[dict[str, Any]]:
    """An argument of 32 bits that is none of the two: it differs from both in a bit that they share, or it agrees with
    both in all of those and is another in the bits in which they differ."""
    apart = first ^ second
    bits = [1 << number for number in range(32)]
    rules = [_masked(argument, bit, bit & ~first) for bit in bits if not bit & apart]
    shared = first & ~apart
    parts = (part for part in range(apart + 1) if part & ~apart == 0 and shared | part not in (first, second))
    return rules + [_masked(argument, _HALF, shared | part) for part in parts]


def _allow(name: str, *comparisons: dict[str, Any]) -> dict[str, Any]:
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": list(comparisons)}


def _equal(argument: int, value: int) -> dict[str, Any]:
    return {"index": argument, "value": value, "valueTwo": 0, "op": "SCMP_CMP_EQ"}


def _masked(argument: int, mask: int, value: int) -> dict[str, Any]:
    return {"index": argument, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
