"""What can go wrong, by name. Each fault strikes once, lasts seconds, and is undone when `strike` returns."""

from .clocks import CLOCKS
from .failpoints import FAILPOINTS
from .fault import Fault
from .namespaces import NAMESPACES
from .network import NETWORK
from .objects import OBJECTS
from .postgres import POSTGRES
from .processes import PROCESSES
from .scarcity import SCARCITY

__all__ = ["FAULTS", "Fault"]

KINDS = (PROCESSES, POSTGRES, NETWORK, NAMESPACES, OBJECTS, CLOCKS, SCARCITY, FAILPOINTS)
FAULTS: dict[str, Fault] = {fault.name: fault for kind in KINDS for fault in kind}
