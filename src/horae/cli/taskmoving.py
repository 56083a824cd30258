"""`horae task export`, `import`, `share` and `unshare`: tasks in other installations, and in other tenants."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from horae.cli.access import HERE, Access
from horae.cli.arguments import Dashed, read_file
from horae.cli.screen import console, note, print_json, print_lines, table
from horae.cli.text import relative
from horae.wire.tasks import TaskSharePage

if TYPE_CHECKING:
    from collections.abc import Sequence


def export(name: str | None = None, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """Print tasks that are data as YAML, as `horae task import` takes it.

    Parameters
    ----------
    name
        Only this one.
    tenant
        For keys that belong to no tenant; without one, the tasks for all tenants.
    """
    with access.client() as client:
        text = client.tasks.export(name, tenant)
    print_json({"yaml": text}) if access.json else print(text, end="")


def import_file(
    file: Dashed, /, *, dry_run: bool = False, reason: str = "", tenant: str | None = None, access: Access = HERE
) -> int:
    """Save the tasks of a YAML file, each for itself. Exit code 1 if any was refused.

    Parameters
    ----------
    file
        The file, or - for stdin.
    dry_run
        Only say what would be done.
    reason
        For the history of the tasks.
    tenant
        For keys that belong to no tenant; without one, the tasks are for all tenants.
    """
    with access.client() as client:
        done = client.tasks.import_text(read_file(file), dry_run=dry_run, reason=reason, tenant=tenant)
    if access.json:
        print_lines(done.items)
    else:
        rows = ((one.name, one.outcome, str(one.version or ""), one.error or "") for one in done.items)
        console().print(table(("task", "outcome", "version", "error"), rows))
        if dry_run:
            note("nothing was changed: this was a dry run")
    return 1 if any(one.error for one in done.items) else 0


def share(
    name: str,
    /,
    *tenants: str,
    all_tenants: Annotated[bool, Parameter(name="--all")] = False,
    with_secrets: bool = False,
    tenant: str | None = None,
    access: Access = HERE,
) -> None:
    """Let other tenants use a task, as it is now and will be. Without any, show who may.

    Parameters
    ----------
    name
        The task's name.
    tenants
        Who may use it.
    all_tenants
        Every tenant may.
    with_secrets
        Their jobs get the secrets of the task's tenant. Without it they get those of their own.
    tenant
        Whose task it is, for keys that belong to no tenant.
    """
    with access.client() as client:
        if tenants or all_tenants:
            whom: list[str] | str = "*" if all_tenants else list(tenants)
            _show(client.tasks.share(name, whom, with_secrets=with_secrets, tenant=tenant), access)
        else:
            _show(client.tasks.shares(name, tenant), access)


def unshare(
    name: str,
    /,
    *tenants: str,
    all_tenants: Annotated[bool, Parameter(name="--all")] = False,
    tenant: str | None = None,
    access: Access = HERE,
) -> None:
    """Take a task back from other tenants. Their jobs that wait for it fail, unless they have a task of that name.

    Parameters
    ----------
    name
        The task's name.
    tenants
        Whom to take it from.
    all_tenants
        From everybody.
    tenant
        Whose task it is, for keys that belong to no tenant.
    """
    whom: list[str] | str = "*" if all_tenants else list(tenants)
    with access.client() as client:
        _show(client.tasks.unshare(name, whom, tenant), access)


def _show(page: TaskSharePage, access: Access) -> None:
    if access.json:
        print_lines(page.items)
        return
    rows: Sequence[tuple[str, ...]] = [
        ("all tenants" if one.tenant == "*" else one.tenant, "with secrets" if one.with_secrets else "",
         relative(one.made_at), one.made_by)
        for one in page.items
    ]  # fmt: skip
    console().print(table(("tenant", "", "since", "by"), rows))
