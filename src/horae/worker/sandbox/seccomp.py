"""The seccomp filter: for bubblewrap as a program of the kernel's packet filter, for container engines as JSON.

The program looks at the architecture first, because the same number is another call in another one: a call of a foreign
architecture kills the process. Then it goes down the numbers, and for a few calls it looks at their arguments, of which
the kernel itself reads only the lower half here. Everything else is allowed.
"""

import errno
import struct
from typing import Final, NamedTuple

from horae.model.errors import SetupError
from horae.worker.sandbox import syscalls
from horae.worker.sandbox.syscalls import ARCHITECTURES, REFUSED

_LOAD: Final = 0x20
_EQUAL: Final = 0x15
_AT_LEAST: Final = 0x35
_ANY_BIT: Final = 0x45
_RETURN: Final = 0x06
_NUMBER: Final = 0
_ARCHITECTURE: Final = 4
_ERRNO: Final = 0x00050000

NEXT: Final = ""
"""Go on with the following instruction."""
ALLOW: Final = "allow"
REFUSE: Final = "refuse"
ABSENT: Final = "absent"
KILL: Final = "kill"
_ENDS: Final = {ALLOW: 0x7FFF0000, REFUSE: _ERRNO | errno.EPERM, ABSENT: _ERRNO | errno.ENOSYS, KILL: 0x80000000}


class Test(NamedTuple):
    """Of an argument of a call: what happens if it holds, and if not."""

    argument: int
    operation: int
    value: int
    then: str
    otherwise: str = NEXT


def _guards(column: int) -> dict[int, list[Test]]:
    """Calls whose arguments decide. A call that passes all tests is allowed."""
    families = [family for family in syscalls.FAMILIES if family != syscalls.AF_NETLINK]
    return {
        syscalls.CLONE[column]: [Test(0, _ANY_BIT, sum(syscalls.NAMESPACE_FLAGS), REFUSE)],
        syscalls.IOCTL[column]: [Test(1, _EQUAL, request, REFUSE) for request in syscalls.TYPING],
        syscalls.PERSONALITY[column]: [Test(0, _EQUAL, syscalls.PLAIN_PERSONALITY, ALLOW, REFUSE)],
        syscalls.SOCKET[column]: [
            *(Test(0, _EQUAL, family, ALLOW) for family in families),
            Test(0, _EQUAL, syscalls.AF_NETLINK, NEXT, REFUSE),
            Test(2, _EQUAL, syscalls.NETLINK_ROUTE, ALLOW, REFUSE),
        ],
        syscalls.SOCKETPAIR[column]: [Test(0, _EQUAL, families[0], ALLOW, REFUSE)],
    }


class _Program:
    """Instructions with jumps to the ends, which are put behind them when all are known."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, int, str | int, str | int]] = []

    def load(self, offset: int) -> None:
        self._steps.append((_LOAD, offset, 0, 0))

    def jump(self, operation: int, value: int, then: str | int, otherwise: str | int = NEXT) -> None:
        """To the name of an end, or over so many instructions."""
        self._steps.append((operation, value, then, otherwise))

    def finish(self, end: str) -> None:
        self._steps.append((_RETURN, _ENDS[end], 0, 0))

    def guard(self, number: int, tests: list[Test]) -> None:
        self.jump(_EQUAL, number, NEXT, 2 * len(tests) + 1)
        for test in tests:
            self.load(16 + 8 * test.argument)  # The lower half: both architectures are little-endian.
            self.jump(test.operation, test.value, test.then, test.otherwise)
        self.finish(ALLOW)

    def assemble(self) -> bytes:
        places = {name: len(self._steps) + index for index, name in enumerate(_ENDS)}
        code = b""
        for at, (operation, value, *targets) in enumerate(self._steps):
            then, otherwise = (places[to] - at - 1 if to in places else to or 0 for to in targets)
            code += struct.pack("<HBBI", operation, then, otherwise, value)
        return code + b"".join(struct.pack("<HBBI", _RETURN, 0, 0, value) for value in _ENDS.values())


def compile_filter(machine: str) -> bytes:
    """For `bwrap --seccomp`. The machine is named as `platform.machine()` does it."""
    architecture = ARCHITECTURES.get(machine)
    if architecture is None:
        raise SetupError(f"there is no seccomp filter for {machine}; run scripts on {' or '.join(ARCHITECTURES)}")
    program, column = _Program(), architecture.column
    program.load(_ARCHITECTURE)
    program.jump(_EQUAL, architecture.audit, NEXT, KILL)
    program.load(_NUMBER)
    if machine == "x86_64":
        program.jump(_AT_LEAST, syscalls.X32_BIT, KILL)
    for numbers in REFUSED.values():
        if (number := numbers[column]) is not None:
            program.jump(_EQUAL, number, REFUSE)
    program.jump(_EQUAL, syscalls.CLONE3[column], ABSENT)
    for number, tests in _guards(column).items():
        program.guard(number, tests)
    program.finish(ALLOW)
    return program.assemble()
