"""`horae tasks` and `horae task`: what can be submitted. Looking at tasks and ending them; the rest is in files of its
own."""

from datetime import UTC, datetime

from cyclopts import App

from horae.cli.access import HERE, Access
from horae.cli.screen import console, facts, note, print_json, print_lines, table
from horae.cli.text import printable, relative, short, when
from horae.model.durations import parse_duration
from horae.wire.access import Task
from horae.wire.tasks import TaskDiff

app = App(name="task", help="Tasks that are data: scripts, containers and HTTP calls.")
app.command("horae.cli.tasksaving:create", help="Save a new script, container or HTTP call.")
app.command("horae.cli.tasksaving:edit", help="Change a task, in your editor or from a file.")
app.command("horae.cli.tasksaving:validate", help="Say all that is wrong with a task, without saving it.")
app.command("horae.cli.taskmoving:export", help="Print tasks as YAML.")
app.command("horae.cli.taskmoving:import_file", name="import", help="Save the tasks of a YAML file.")
app.command("horae.cli.taskmoving:share", help="Let other tenants use a task, or show who may.")
app.command("horae.cli.taskstatistics:statistics", help="Show what became of the jobs of tasks.")
app.command("horae.cli.taskmoving:unshare", help="Take a task back from other tenants.")


def tasks(*, tenant: str | None = None, access: Access = HERE) -> None:
    """List the tasks that can be submitted, with their parameters.

    Parameters
    ----------
    tenant
        Only those that this tenant may use.
    """
    with access.client() as client:
        found = client.tasks.list(tenant).items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    columns = ("task", "params", "kind", "version", "tenant", "queue", "priority", "attempts", "timeout", "changed",
               "description")  # fmt: skip
    spare = ("changed", "priority", "attempts", "version", "tenant", "timeout", "queue")
    console().print(table(columns, (_row(task, now) for task in found), spare))
    if not found:
        note("no task is registered; a worker registers its tasks when it starts: horae worker --app module:app")


app.command(tasks, name="list", help="List the tasks that can be submitted.")


def _row(task: Task, now: datetime) -> tuple[str, ...]:
    it = task.definition
    return (
        it.name, _params(task), task.kind, str(task.version or ""), task.tenant or "all", it.queue or "",
        str(it.priority or ""), str(it.max_attempts or ""),
        "" if it.timeout is None else short(parse_duration(it.timeout)), relative(task.updated_at, now),
        (it.description or "").split("\n", 1)[0],
    )  # fmt: skip


def _params(task: Task) -> str:
    """The names; those that may be left out in brackets."""
    schema = task.definition.params_schema or {}
    required = schema.get("required", ())
    return " ".join(name if name in required else f"[{name}]" for name in schema.get("properties", ()))


@app.command
def show(name: str, /, *, version: int | None = None, tenant: str | None = None, access: Access = HERE) -> None:
    """Show a task with all of its definition.

    Parameters
    ----------
    name
        The task's name.
    version
        As it was in this version.
    tenant
        For keys that belong to no tenant.
    """
    from horae.wire.taskfiles import write_task

    with access.client() as client:
        found = client.tasks.get(name, tenant) if version is None else client.tasks.version(name, version, tenant)
    if access.json:
        print_json(found)
        return
    if isinstance(found, Task):
        console().print(facts((
            ("tenant", found.tenant or "all"), ("kind", found.kind), ("version", str(found.version or "")),
            ("changed", when(found.updated_at)), ("secrets", f"those of {found.tenant}" if found.with_secrets else ""),
        )))  # fmt: skip
        print()
    if found.definition is not None:
        print(printable(write_task(found.definition), lines=True), end="")


@app.command
def versions(name: str, /, *, tenant: str | None = None, access: Access = HERE) -> None:
    """List the versions of a task, the latest first, also of one that was deleted.

    Parameters
    ----------
    name
        The task's name.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        found = client.tasks.versions(name, tenant).items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    rows = (
        (str(one.version), "in force" if one.current else "", relative(one.made_at, now), one.made_by, one.reason)
        for one in found
    )
    console().print(table(("version", "", "made", "by", "reason"), rows))


@app.command
def diff(
    name: str, before: int | None = None, after: int | None = None, /, *, tenant: str | None = None,
    access: Access = HERE,
) -> None:  # fmt: skip
    """Show what differs between two versions of a task.

    Parameters
    ----------
    name
        The task's name.
    before
        A version (the one before the other).
    after
        A later version (the one in force).
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        found: TaskDiff = client.tasks.diff(name, before, after, tenant)
    if access.json:
        print_json(found)
    elif found.text:
        print(printable(found.text, lines=True), end="")
    else:
        note(f"versions {found.before} and {found.after} are the same")


@app.command
def rollback(name: str, version: int, /, *, reason: str = "", tenant: str | None = None, access: Access = HERE) -> None:
    """Put an earlier version of a task in force again, also for the jobs that wait.

    Parameters
    ----------
    name
        The task's name, also of one that was deleted.
    version
        The version to go back to.
    reason
        For its history.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        done = client.tasks.rollback(name, version, reason, tenant)
    said(done, access)


@app.command
def delete(*names: str, force: bool = False, tenant: str | None = None, access: Access = HERE) -> None:
    """Delete tasks that no job and no schedule needs. Their versions stay: `rollback` brings them back.

    Parameters
    ----------
    names
        Their names.
    force
        Even if jobs or schedules need them: those jobs fail when they are to start.
    tenant
        For keys that belong to no tenant.
    """
    with access.client() as client:
        for name in names:
            client.tasks.delete(name, force=force, tenant=tenant)
            print_json({"name": name, "state": "deleted"}) if access.json else print(name, "deleted")


def said(task: Task, access: Access) -> None:
    print_json(task) if access.json else print(f"{task.definition.name} version {task.version}")
