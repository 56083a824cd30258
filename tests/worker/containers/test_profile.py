"""The seccomp profile, read as the kernel would."""

import json
import os
from pathlib import Path

import pytest

from horae.worker.containers.calls import ALLOWED
from horae.worker.containers.profile import make_profile
from horae.worker.sandbox import syscalls


def test_the_profile_allows_nothing_that_scripts_are_refused():
    profile = make_profile("x86_64")
    (allowed,) = [
        rule["names"] for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" and "args" not in rule
    ]
    conditional = {"clone", "ioctl", "personality", "socket", "socketpair"}
    assert not set(allowed) & (set(syscalls.REFUSED) | conditional | {"clone3"})
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"


def test_the_profile_allows_nothing_that_the_engine_refuses_by_default():
    file = Path("/usr/share/containers/seccomp.json")
    if not file.exists() and not os.environ.get("CI"):
        pytest.skip(f"{file} is not there: install podman")
    rules = json.loads(file.read_text())["syscalls"]
    open_to_all = [
        rule for rule in rules if rule["action"] == "SCMP_ACT_ALLOW" and not (rule.get("includes") or {}).get("caps")
    ]
    assert not ALLOWED - {name for rule in open_to_all for name in rule["names"]}


@pytest.mark.parametrize("request_number", [0x5412, 0x541C, 0x1_0000_5412, 0xFFFF_FFFF_0000_541C])
def test_the_profile_refuses_typing_into_a_terminal(request_number):
    assert not _ioctl_allowed(request_number)


@pytest.mark.parametrize(
    "request_number", [0, 0x5401, 0x5413, 0x541B, 0x541D, 0x5402, 0x540C, 0x8000_5412, 0x5452, 0xC020_660B]
)
def test_the_profile_lets_other_requests_through(request_number):
    assert _ioctl_allowed(request_number)


def _ioctl_allowed(number):
    rules = [rule["args"][0] for rule in make_profile("x86_64")["syscalls"] if rule["names"] == ["ioctl"]]
    return any(number & rule["value"] == rule["valueTwo"] for rule in rules)
