"""What tests ask of processes that are not their own children."""

import psutil


def alive(pid: int) -> bool:
    """One that has ended is not, also while nobody has asked how: orphans may come to a process that does not."""
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False
