"""The last line that a job has printed and that is not empty, from its output as it comes in pieces."""

from typing import Final

from horae.worker.errands.errand import Errand

LONGEST: Final = 1024 * 1024


class LastLine:
    def __init__(self) -> None:
        self._open = bytearray()
        self._closed = b""
        self._too_long = False

    def feed(self, data: bytes) -> None:
        head, newline, rest = data.rpartition(b"\n")
        if newline:
            self._close(head)
        self._extend(rest)

    def _close(self, text: bytes) -> None:
        """Of several lines that end here, the last with something in it counts."""
        first, _, others = text.partition(b"\n")
        self._extend(first)
        self._settle()
        self._closed = next((line for line in reversed(others.split(b"\n")) if line.strip()), self._closed)

    def _extend(self, data: bytes) -> None:
        self._open += data
        if len(self._open) > LONGEST:
            self._too_long = True
            del self._open[1:]

    def _settle(self) -> None:
        if self._too_long:
            self._closed = b""
        elif self._open.strip():
            self._closed = bytes(self._open)
        self._open.clear()
        self._too_long = False

    @property
    def text(self) -> bytes | None:
        """None: there is none, or it is too long to be a result."""
        if self._too_long:
            return None
        return (bytes(self._open).strip() or self._closed.strip()) or None


class Listener:
    """The errand as a supervisor knows it, with an ear for the last line."""

    def __init__(self, errand: Errand, last_line: LastLine) -> None:
        self._errand = errand
        self._last_line = last_line
        self.stop = errand.stop
        self.guard = errand.guard
        self.unguard = errand.unguard

    def write(self, stream: str, data: bytes) -> None:
        if stream == "stdout":
            self._last_line.feed(data)
        self._errand.write(stream, data)
