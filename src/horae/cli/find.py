"""`horae find`: what a few characters may mean."""

from horae.cli.access import HERE, Access
from horae.cli.screen import console, note, print_lines, table


def find(text: str, /, *, tenant: str | None = None, limit: int = 8, access: Access = HERE) -> None:
    """Find jobs by the beginning of their id, and tasks, schedules, queues and workers by a part of their name.

    Parameters
    ----------
    text
        What to look for: at least eight digits of a job's id, or any part of a name.
    tenant
        For keys that belong to no tenant: only what this tenant has.
    limit
        How many of each kind; 8 unless it is said.
    """
    with access.client() as client:
        found = client.find(text, tenant, limit).items
    if access.json:
        print_lines(found)
        return
    rows = ((one.kind, one.name, one.id or "", one.tenant or "all", one.note or "") for one in found)
    console().print(table(("kind", "name", "id", "tenant", "about"), rows, ("tenant", "about")))
    if not found:
        note("nothing has this in its name; for jobs give at least eight digits of the id, or see `horae jobs`")
