"""`horae cancel`, `move`, `retry`, `clone` and `change`: what a person does to jobs.

One bad id among many must not keep the others from their turn: each failure is said, and the last one's exit code
is the command's.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from horae.cli.access import HERE, Access
from horae.cli.arguments import NOTHING, Dashed, JobArguments, read_ids
from horae.cli.failure import report
from horae.cli.job import job_facts
from horae.cli.screen import console, print_json
from horae.cli.where import NONE, Many, act
from horae.model.actions import ActionKind
from horae.model.errors import HoraeError, InvalidInput, Unreachable
from horae.wire.jobs import Job, JobChanges, Submitted

if TYPE_CHECKING:
    from horae.client.client import Client


def cancel(*ids: Dashed, reason: str = "", many: Many = NONE, access: Access = HERE) -> int:
    """Cancel jobs, by id or all that match. One that runs is asked to stop, and ends when its process is gone.

    Parameters
    ----------
    ids
        Job ids; - reads them from stdin.
    reason
        Why, for those who look at the job later.
    """
    if many != NONE:
        return _many(ActionKind.CANCEL, ids, many, None, reason, access)
    return _each(ids, access, lambda client, job_id: client.cancel(job_id, reason))


def move(*ids: Dashed, reason: str = "", force: bool = False, access: Access = HERE) -> int:
    """Let running jobs stop where they are and go on at another worker, from their last checkpoint.

    Parameters
    ----------
    ids
        Job ids; - reads them from stdin.
    reason
        Why, for those who look at the job later.
    force
        Move them even if no other worker could run them now: they wait for one that can.
    """
    return _each(ids, access, lambda client, job_id: client.move(job_id, reason, force=force))


def retry(*ids: Dashed, many: Many = NONE, changes: JobArguments = NOTHING, access: Access = HERE) -> int:
    """Run failed or cancelled jobs again, by id or all that match, if need be with other parameters.

    Parameters
    ----------
    ids
        Job ids; - reads them from stdin.
    """
    wanted = changes.changes()
    if many != NONE:
        return _many(ActionKind.RETRY, ids, many, None if changes == NOTHING else wanted, "", access)
    return _each(ids, access, lambda client, job_id: client.retry(job_id, wanted))


def clone(job_id: str, /, *, changes: JobArguments = NOTHING, access: Access = HERE) -> int:
    """Submit a copy of a job, if need be with other parameters. Prints the new job's id.

    Parameters
    ----------
    job_id
        The job to copy.
    """
    wanted = changes.changes()
    return _each([job_id], access, lambda client, one: client.clone(one, wanted))


def change(job_id: str, /, *, changes: JobArguments = NOTHING, access: Access = HERE) -> None:
    """Change a job that has not started. Only what is given changes; params are replaced as a whole.

    Parameters
    ----------
    job_id
        The job's id.
    """
    if changes == NOTHING:
        raise InvalidInput("nothing to change: give at least one of the options under Job")
    with access.client() as client:
        changed = client.change(job_id, changes.changes())
    if access.json:
        print_json(changed)
    else:
        console().print(job_facts(changed))


def _many(
    kind: ActionKind, ids: tuple[str, ...], many: Many, changes: JobChanges | None, reason: str, access: Access
) -> int:
    if ids or not many.where:
        raise InvalidInput("name jobs by their ids, or all that match with --where name=value: not both, not neither")
    with access.client() as client:
        return act(client, kind, many, changes, reason, as_json=access.json)


def _each(
    ids: tuple[str, ...] | list[str], access: Access, act: "Callable[[Client, str], Job | Submitted]",
) -> int:  # fmt: skip
    code = 0
    with access.client() as client:
        for job_id in read_ids(ids):
            try:
                _print_done(act(client, job_id), as_json=access.json)
            except Unreachable:
                raise
            except HoraeError as error:
                code = report(error)
    return code


def _print_done(done: Job | Submitted, *, as_json: bool) -> None:
    if as_json:
        print_json(done)
    else:
        asked = isinstance(done, Job) and done.cancel_requested and not done.state.ended
        print(done.id, "cancelling" if asked else done.state.value)
