"""`horae submit`: one job from the command line, or many from a file."""

from horae.cli.access import HERE, Access
from horae.cli.arguments import NOTHING, Dashed, JobArguments
from horae.cli.bulk import submit_file
from horae.cli.job import limit_of, print_result
from horae.cli.logs import print_logs
from horae.cli.screen import note, print_json
from horae.model.errors import InvalidInput


def submit(
    task: str | None = None,
    /,
    *,
    bulk: Dashed | None = None,
    idempotency_key: str | None = None,
    tenant: str | None = None,
    wait: bool = False,
    wait_for: str | None = None,
    logs: bool = False,
    job: JobArguments = NOTHING,
    access: Access = HERE,
) -> int:
    """Submit a job and print its id, or with --wait its result.

    Parameters
    ----------
    task
        The task to run.
    bulk
        Submit many: a file with one job as JSON on each line, or - for stdin.
    idempotency_key
        A second submit with the same key gives the first one's job.
    tenant
        For keys that belong to no tenant.
    wait
        Wait until the job has ended and print its result.
    wait_for
        Wait at most this long, e.g. 5m; exit code 124 when it has not ended then.
    logs
        Print what the job writes while it runs, then its result.
    """
    if bulk is not None:
        if task is not None:
            raise InvalidInput("--bulk takes the tasks from the file: leave TASK out")
        return submit_file(bulk, access)
    if task is None:
        raise InvalidInput("name the task to run, or a file of jobs with --bulk")
    request = job.request(task, tenant)
    with access.client() as client:
        done = client.submit(request, idempotency_key)
        for warning in done.warnings:
            note(f"warning: {warning}")
        if not (wait or wait_for or logs):
            print_json(done) if access.json else print(done.id)
            return 0
        note(f"job {done.id}")
        if logs:
            print_logs(client.follow_logs(done.id))
        return print_result(client, done.id, limit_of(wait_for, wait=wait or logs), as_json=access.json)
