"""What limits and service levels share: rules with a name that somebody set for a tenant, or for all of them."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from horae.cli.screen import console, facts, print_json, print_lines, table
from horae.cli.text import relative


class Rule(Protocol):
    name: str
    tenant: str | None
    made_by: str
    made_at: datetime
    reason: str | None


R = TypeVar("R", bound=Rule)
Facts = list[tuple[str, str]]


def print_rule(rule: R, say: Callable[[R], Facts], *, json: bool) -> None:
    if json:
        print_json(rule)
    else:
        console().print(facts_of(rule, say(rule)))


def facts_of(rule: Rule, said: Facts) -> object:
    """What is said of every rule, around what is said of this kind."""
    made = f"{rule.made_by}, {relative(rule.made_at, datetime.now(UTC))}"
    return facts([("name", rule.name), ("tenant", owner(rule)), *said, ("set by", made), ("reason", rule.reason or "")])


def print_rules(
    rules: Iterable[R], columns: Sequence[str], row: Callable[[R], tuple[str, ...]], spare: Sequence[str], *, json: bool
) -> None:
    if json:
        print_lines(rules)
    else:
        rows = ((rule.name, owner(rule), *row(rule)) for rule in rules)
        console().print(table(("name", "tenant", *columns), rows, spare=spare))


def owner(rule: Rule) -> str:
    return rule.tenant or "all"
