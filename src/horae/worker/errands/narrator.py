"""An errand to which all that a helping program says (an engine, an installer) is the system's word."""

from horae.worker.errands.errand import Errand


class Narrator:
    def __init__(self, errand: Errand) -> None:
        self._errand = errand
        self.stop = errand.stop
        self.guard = errand.guard
        self.unguard = errand.unguard

    def write(self, stream: str, data: bytes) -> None:
        self._errand.write("system", data)
