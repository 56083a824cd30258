"""The filter: as a program, by an interpreter of our own for both architectures; and as the kernel applies it."""

import errno
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.errors import SetupError
from horae.worker.sandbox import syscalls
from horae.worker.sandbox.seccomp import compile_filter
from horae.worker.sandbox.syscalls import ARCHITECTURES, REFUSED

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
MACHINES = sorted(ARCHITECTURES)
BPF_MAXINSNS = 4096
HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


def judge(program: bytes, arch: int, number: int, *arguments: int) -> int:
    """What the kernel's packet filter machine would do."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *(list(arguments) + [0] * 6)[:6])
    steps = list(struct.iter_unpack("<HBBI", program))
    value = at = 0
    while True:
        code, then, otherwise, constant = steps[at]
        if code == 0x20:
            (value,) = struct.unpack_from("<I", data, constant)
        elif code == 0x06:
            return constant
        else:
            holds = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[code]
            at += then if holds else otherwise
        at += 1


def verdict(machine: str, number: int, *arguments: int) -> int:
    return judge(compile_filter(machine), ARCHITECTURES[machine].audit, number, *arguments)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_on_the_list_is_refused(machine):
    column = ARCHITECTURES[machine].column
    numbers = [entry[column] for entry in REFUSED.values() if entry[column] is not None]
    assert {verdict(machine, number) for number in numbers} == {EPERM}
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("machine", MACHINES)
@given(number=st.integers(0, 1000), arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_calls_that_are_not_mentioned_are_allowed(machine, number, arguments):
    column = ARCHITECTURES[machine].column
    guarded = (
        syscalls.CLONE,
        syscalls.CLONE3,
        syscalls.IOCTL,
        syscalls.SOCKET,
        syscalls.SOCKETPAIR,
        syscalls.PERSONALITY,
    )
    mentioned = {entry[column] for entry in (*REFUSED.values(), *guarded)}
    if number not in mentioned:
        assert verdict(machine, number, *arguments) == ALLOW


@given(number=st.integers(0, 2**32 - 1), arch=st.integers(0, 2**32 - 1))
def test_a_call_of_another_architecture_kills(number, arch):
    if arch != ARCHITECTURES["x86_64"].audit:
        assert judge(compile_filter("x86_64"), arch, number) == KILL


@given(number=st.integers(0x40000000, 2**32 - 1))
def test_x32_calls_kill(number):
    assert verdict("x86_64", number) == KILL


@pytest.mark.parametrize("machine", MACHINES)
@given(upper=st.integers(0, 2**32 - 1))
def test_arguments_decide_by_their_lower_half(machine, upper):
    column = ARCHITECTURES[machine].column
    high = upper << 32
    for flag in syscalls.NAMESPACE_FLAGS:
        assert verdict(machine, syscalls.CLONE[column], high | flag | 17) == EPERM
    assert verdict(machine, syscalls.CLONE[column], high | 0x003D0F00) == ALLOW  # what threads are made with
    assert verdict(machine, syscalls.CLONE3[column]) == ENOSYS
    assert verdict(machine, syscalls.IOCTL[column], 0, high | 0x5412) == EPERM
    assert verdict(machine, syscalls.IOCTL[column], 0, high | 0x5401) == ALLOW
    assert verdict(machine, syscalls.PERSONALITY[column], high) == ALLOW
    assert verdict(machine, syscalls.PERSONALITY[column], high | 0x40000) == EPERM
    for family, protocol, expected in ((1, 0, ALLOW), (2, 6, ALLOW), (10, 0, ALLOW), (16, 0, ALLOW), (16, 9, EPERM)):
        assert verdict(machine, syscalls.SOCKET[column], high | family, 1, high | protocol) == expected
    for family in (17, 38, 40):  # packets, the kernel's crypto, virtual machines
        assert verdict(machine, syscalls.SOCKET[column], high | family) == EPERM


def test_a_machine_without_a_list_is_refused():
    with pytest.raises(SetupError, match="no seccomp filter for riscv64"):
        compile_filter("riscv64")


@pytest.mark.skipif(not HEADER.exists(), reason="the kernel's headers are not installed, or of another machine")
def test_the_numbers_are_those_of_the_kernels_headers():
    defined = re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text())
    known = {name: int(number) for name, number in defined if name in REFUSED}
    assert known
    assert known == {name: REFUSED[name][0] for name in known}


def test_the_program_fits_into_the_kernel():
    for machine in MACHINES:
        assert len(compile_filter(machine)) // 8 < BPF_MAXINSNS
