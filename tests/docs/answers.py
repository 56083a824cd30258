"""Whether what a block printed is what the page shows.

`…` in the page stands for any text: ids and times differ each time. In JSON any number stands for any number, for the
same reason; keys, strings, truth values and lengths of lists must agree.
"""

import json
import re
from typing import Any


def same_text(shown: str, printed: str) -> bool:
    return _fits(_trimmed(shown), _trimmed(printed))


def _trimmed(text: str) -> str:
    """How wide columns are depends on what is in them."""
    return "\n".join(re.sub(" +", " ", line).strip() for line in text.strip().splitlines())


def _fits(shown: str, printed: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def same_json(shown: str, printed: str) -> bool:
    return _same(json.loads(shown), json.loads(printed))


def _same(shown: Any, printed: Any) -> bool:
    match shown, printed:
        case dict(), dict():
            return shown.keys() == printed.keys() and all(_same(shown[key], printed[key]) for key in shown)
        case list(), list():
            return len(shown) == len(printed) and all(map(_same, shown, printed))
        case str(), str():
            return _fits(shown, printed)
        case bool() | None, _:
            return shown is printed
    return _is_number(shown) and _is_number(printed)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
