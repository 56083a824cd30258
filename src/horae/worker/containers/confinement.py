"""How a container is shut in: the engine's flags for every limit.

Nothing here comes from whoever wrote the task but numbers. What would open a container (privileges, namespaces and
devices of the host, the engine's socket, mounts of a user's choice) cannot be said anywhere.
"""

import os
import resource
from pathlib import Path
from typing import Final

from horae.worker.containers.engine import Engine
from horae.worker.sandbox.cgroups import HELPERS
from horae.worker.sandbox.limits import Bounds

NOBODY: Final = 65534
SLACK: Final = 1024 * 1024
"""Bytes that a limit of the engine is above the one of ours that it backs, so that ours is reached and we see it."""
_MOST_TASKS: Final = 16384
"""Of the user, whose containers count together. Engines ask for more than some hosts give."""


def confine(engine: Engine, network: str | None, profile: Path) -> list[str]:
    """What it cannot see or do."""
    return [
        *("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", f"--security-opt=seccomp={profile}"),
        *(f"--user={_user(engine)}", "--ipc=private", "--cgroupns=private", "--hostname=job"),
        f"--network={network or 'none'}",
        *_own_words(engine),
    ]


def _user(engine: Engine) -> str:
    """Docker does not map users: a job of an agent that is not root must be the agent's, to share a folder with it."""
    return f"{NOBODY}:{NOBODY}" if engine.podman or os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}"


def limit(engine: Engine, bounds: Bounds) -> list[str]:
    """What it can use."""
    tasks = min(_MOST_TASKS, resource.getrlimit(resource.RLIMIT_NPROC)[1] % 2**63)
    memory = bounds.memory + (SLACK if engine.nests else 0)
    largest_file = bounds.disk + SLACK
    return [
        *(f"--memory={memory}", f"--memory-swap={memory}", f"--pids-limit={bounds.processes + HELPERS}"),
        f"--cpus={min(bounds.cpu, os.cpu_count() or 1):g}",
        *(f"--ulimit=nofile={bounds.open_files}:{bounds.open_files}", f"--ulimit=nproc={tasks}:{tasks}"),
        *(f"--ulimit=fsize={largest_file}:{largest_file}", "--ulimit=core=0:0"),
    ]


def _own_words(engine: Engine) -> list[str]:
    """What podman does on its own unless it is told, and docker does not."""
    if not engine.podman:
        return []
    words = ["--read-only-tmpfs=false", "--image-volume=ignore", "--http-proxy=false", "--no-hosts"]
    # The agent's user becomes nobody inside, so that it owns what the job makes.
    return [*words, f"--userns=keep-id:uid={NOBODY},gid={NOBODY}"] if engine.rootless else words
