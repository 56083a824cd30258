"""What may be wished of a worker: the checks of `requires`, `prefers`, `avoids`, `sticky` and `spread`."""

from typing import Final

from horae.model.errors import InvalidInput
from horae.model.job import MAX_KEY_LENGTH, MAX_LABEL_LENGTH, MAX_LABELS, check_name
from horae.model.placement import Requirements, Traits
from horae.model.sizes import parse_size

MAX_SLOTS_A_JOB: Final = 1000
MAX_CPU: Final = 100_000.0
MAX_GPU: Final = 10_000.0
MAX_SPREAD: Final = 100_000


def check_placement(
    requires: Requirements | None,
    prefers: Traits | None,
    avoids: Traits | None,
    sticky: str | None = None,
    spread: int | None = None,
) -> None:
    if requires is not None:
        _check_traits(requires, "requires")
        _check_amounts(requires)
    for field, traits in (("prefers", prefers), ("avoids", avoids)):
        if traits is not None:
            _check_traits(traits, field)
    if sticky is not None and (not 1 <= len(sticky) <= MAX_KEY_LENGTH or "\x00" in sticky):
        raise InvalidInput(f"sticky: 1…{MAX_KEY_LENGTH} characters, no NUL", field="sticky")
    if spread is not None and not 1 <= spread <= MAX_SPREAD:
        raise InvalidInput(f"spread: {spread} is outside 1…{MAX_SPREAD}", field="spread")


def _check_traits(traits: Requirements | Traits, field: str) -> None:
    if len(traits.labels) > MAX_LABELS:
        raise InvalidInput(f"{field}.labels: {len(traits.labels)} are more than {MAX_LABELS}", field=field)
    for name, value in traits.labels.items():
        check_name(name, f"{field}.labels")
        check_word(value, f"{field}.labels.{name}")
    for name in ("kind", "region", "zone"):
        word = getattr(traits, name)
        if word is not None:
            check_word(word, f"{field}.{name}")


def check_word(word: str, field: str, longest: int = MAX_LABEL_LENGTH) -> None:
    if len(word) > longest or "\x00" in word:
        raise InvalidInput(f"{field}: at most {longest} characters, no NUL", field=field)


def _check_amounts(requires: Requirements) -> None:
    if not 1 <= requires.slots <= MAX_SLOTS_A_JOB:
        raise InvalidInput(f"requires.slots: {requires.slots} is outside 1…{MAX_SLOTS_A_JOB}", field="requires")
    for name, most in (("cpu", MAX_CPU), ("gpu", MAX_GPU)):
        amount = getattr(requires, name)
        if amount is not None and not 0 < amount <= most:
            raise InvalidInput(f"requires.{name}: {amount:g} is outside 0…{most:g}, 0 excluded", field="requires")
    for name in ("memory", "disk"):
        size = getattr(requires, name)
        if size is not None:
            parse_size(size, f"requires.{name}")
