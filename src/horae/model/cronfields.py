"""The fields of a cron expression, each read into a bit mask: bit n is set when the value n fires.

A field is a list of terms, joined by commas: `*`, a value or name, a range `a-b`, any of these with a step `/n`, or a
hashed value `H`, `H(a-b)`, `H/n`, `H(a-b)/n`. A range whose end is before its start wraps round: `FRI-MON`, `22-4`.
`a/n` starts at a and ends with the field. A step longer than the field is refused, because `*/90` minutes would not be
what its writer wants.
"""

import re
from hashlib import blake2b
from typing import Final

import msgspec

from horae.model.errors import InvalidInput

_HASHED: Final = re.compile(r"H(?:\((\d+)-(\d+)\))?", re.ASCII)
_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_LAST_HASHED_DAY: Final = 28
"""`H` as day of the month stays within what every month has."""


class Field(msgspec.Struct, frozen=True):
    name: str
    low: int
    high: int
    names: dict[str, int] = {}

    @property
    def size(self) -> int:
        return self.high - self.low + 1


SECOND: Final = Field("second", 0, 59)
MINUTE: Final = Field("minute", 0, 59)
HOUR: Final = Field("hour", 0, 23)
DAY: Final = Field("day of month", 1, 31)
MONTH: Final = Field("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, 1)})
WEEKDAY: Final = Field("day of week", 0, 6, {name: number for number, name in enumerate(_DAYS)})


class Reader(msgspec.Struct, frozen=True):
    """Reads terms of one expression; knows what to say when one is wrong."""

    text: str
    seed: str
    where: str

    def refuse(self, field: Field, why: str) -> InvalidInput:
        return InvalidInput(f"{self.where}: the {field.name} in {self.text!r}: {why}", field=self.where)

    def mask(self, field: Field, text: str) -> int:
        found = 0
        for term in text.split(","):
            found |= self._term(field, term)
        return found

    def value(self, field: Field, text: str) -> int:
        if text in field.names:
            return field.names[text]
        if not (text.isascii() and text.isdigit() and len(text) <= 4):
            raise self.refuse(field, f"{text!r} is no number" + (" or name" if field.names else ""))
        number = int(text)
        if field is WEEKDAY and number == 7:
            return 7
        if not field.low <= number <= field.high:
            raise self.refuse(field, f"{number} is outside {field.low}…{field.high}")
        return number

    def _term(self, field: Field, term: str) -> int:
        base, slash, step_text = term.partition("/")
        step = self._step(field, step_text) if slash else None
        if base.startswith("H"):
            return self._hashed(field, base, step)
        if base == "*":
            low, high = field.low, field.high
        elif "-" in base:
            start, _, end = base.partition("-")
            low, high = self.value(field, start), self.value(field, end)
        else:
            low = self.value(field, base)
            high = low if step is None else field.high
        return _walk(field, low, high, step or 1)

    def _step(self, field: Field, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 4 and int(text) > 0):
            raise self.refuse(field, f"the step {text!r} is no number above 0")
        if int(text) > field.size:
            raise self.refuse(
                field, f"the step {text} is longer than the {field.size} values there are; use an interval (every)"
            )
        return int(text)

    def _hashed(self, field: Field, base: str, step: int | None) -> int:
        match = _HASHED.fullmatch(base)
        if match is None:
            raise self.refuse(field, f"{base!r} is not H, H(a-b), H/n or H(a-b)/n")
        low, high = field.low, _LAST_HASHED_DAY if field is DAY else field.high
        if match[1]:
            low, high = self.value(field, match[1]), self.value(field, match[2])
        if low > high:
            raise self.refuse(field, f"{base!r} ends before it starts")
        if step is None:
            return 1 << (low + self._pick(field, high - low + 1)) % (7 if field is WEEKDAY else 64)
        return _walk(field, low + self._pick(field, min(step, high - low + 1)), high, step)

    def _pick(self, field: Field, size: int) -> int:
        digest = blake2b(f"{self.seed}\0{field.name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) % size


def _walk(field: Field, low: int, high: int, step: int) -> int:
    """The mask of low, low + step, … high, round the end of the field if high is before low. 7 is Sunday, too."""
    if low > high:
        high += field.size
    found = 0
    for number in range(low, high + 1, step):
        found |= 1 << field.low + (number - field.low) % field.size
    return found


def bits(mask: int) -> list[int]:
    """The values in a mask, in order."""
    return [number for number in range(mask.bit_length()) if mask >> number & 1]


def lowest(mask: int, start: int) -> int:
    """The lowest value in the mask that is at least `start`, or -1."""
    rest = mask >> start
    return start + (rest & -rest).bit_length() - 1 if rest else -1
