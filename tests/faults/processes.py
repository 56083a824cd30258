"""What the tests know of processes that are not their own children."""

import os
import signal

import psutil

from horae.bench.program import Program


def below(program: Program, module: str) -> list[int]:
    """The processes that run this module directly below the program."""
    found = []
    for process in psutil.Process(program.pid).children():
        try:
            if module in process.cmdline():
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return found


def children_of(program: Program) -> list[int]:
    return below(program, "horae.worker.child")


def keepers_of(program: Program) -> list[int]:
    return below(program, "horae.worker.keeper")


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
