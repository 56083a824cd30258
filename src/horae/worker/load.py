"""How busy the host is, from /proc."""

from pathlib import Path


class HostLoad:
    def __init__(self) -> None:
        self._idle, self._total = _cpu_times()

    def cpu(self) -> float | None:
        """0…1 since the last call."""
        idle, total = _cpu_times()
        idle_part, whole = idle - self._idle, total - self._total
        self._idle, self._total = idle, total
        return None if whole <= 0 else round(min(1.0, max(0.0, 1 - idle_part / whole)), 3)

    def memory(self) -> float | None:
        """0…1 of what there is."""
        facts = _memory_facts()
        total, available = facts.get("MemTotal", 0), facts.get("MemAvailable")
        return None if not total or available is None else round(1 - available / total, 3)


def total_memory() -> int | None:
    return _memory_facts().get("MemTotal")


def _cpu_times() -> tuple[int, int]:
    try:
        times = [int(value) for value in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        return 0, 0
    return times[3] + times[4], sum(times)


def _memory_facts() -> dict[str, int]:
    """Bytes, by the kernel's names."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return {}
    return {name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines) if rest}
