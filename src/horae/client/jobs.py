"""Jobs as the clients offer them: submit, look, change, cancel. Two faces over the same calls."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from horae.client import calls
from horae.client.sender import AsyncSender, Sender
from horae.model.job import JobRequest
from horae.wire.explanation import Explanation, Timeline
from horae.wire.jobs import BulkAnswer, ExecutionPage, Job, JobChanges, JobPage, JobResult, Submitted


class JobFace(Sender):
    def submit(self, job: JobRequest, idempotency_key: str | None = None) -> Submitted:
        return self.send(calls.submit(job, idempotency_key))

    def submit_many(self, jobs: list[JobRequest]) -> BulkAnswer:
        return self.send(calls.submit_many(jobs))

    def job(self, job_id: str) -> Job:
        return self.send(calls.job(job_id))

    def jobs(self, **filters: Any) -> JobPage:
        return self.send(calls.jobs(**filters))

    def iter_jobs(self, **filters: Any) -> Iterator[Job]:
        """All jobs that match, page after page."""
        page = self.jobs(**filters)
        yield from page.items
        while page.next_cursor is not None:
            page = self.jobs(**filters | {"cursor": page.next_cursor})
            yield from page.items

    def change(self, job_id: str, changes: JobChanges) -> Job:
        return self.send(calls.change(job_id, changes))

    def cancel(self, job_id: str, reason: str = "") -> Job:
        return self.send(calls.cancel(job_id, reason))

    def retry(self, job_id: str, changes: JobChanges | None = None) -> Job:
        return self.send(calls.retry(job_id, changes))

    def move(self, job_id: str, reason: str = "", *, force: bool = False) -> Job:
        """Lets a running job stop and go on at another worker, from its last checkpoint."""
        return self.send(calls.move(job_id, reason, force=force))

    def clone(self, job_id: str, changes: JobChanges | None = None) -> Submitted:
        return self.send(calls.clone(job_id, changes))

    def result(self, job_id: str, wait: float = 30.0) -> JobResult:
        return self.send(calls.result(job_id, wait))

    def explain(self, job_id: str) -> Explanation:
        """Why the job is not running yet, when it will start, or where its time went."""
        return self.send(calls.explain(job_id))

    def timeline(self, job_id: str) -> Timeline:
        """What its life went into, in order, each wait with its reason."""
        return self.send(calls.timeline(job_id))

    def executions(self, job_id: str) -> ExecutionPage:
        return self.send(calls.executions(job_id))

    def executions_by_worker(
        self, worker_id: int, cursor: str | None = None, limit: int | None = None
    ) -> ExecutionPage:
        return self.send(calls.executions_by_worker(worker_id, cursor, limit))


class AsyncJobFace(AsyncSender):
    async def submit(self, job: JobRequest, idempotency_key: str | None = None) -> Submitted:
        return await self.send(calls.submit(job, idempotency_key))

    async def submit_many(self, jobs: list[JobRequest]) -> BulkAnswer:
        return await self.send(calls.submit_many(jobs))

    async def job(self, job_id: str) -> Job:
        return await self.send(calls.job(job_id))

    async def jobs(self, **filters: Any) -> JobPage:
        return await self.send(calls.jobs(**filters))

    async def iter_jobs(self, **filters: Any) -> AsyncIterator[Job]:
        page = await self.jobs(**filters)
        for job in page.items:
            yield job
        while page.next_cursor is not None:
            page = await self.jobs(**filters | {"cursor": page.next_cursor})
            for job in page.items:
                yield job

    async def change(self, job_id: str, changes: JobChanges) -> Job:
        return await self.send(calls.change(job_id, changes))

    async def cancel(self, job_id: str, reason: str = "") -> Job:
        return await self.send(calls.cancel(job_id, reason))

    async def retry(self, job_id: str, changes: JobChanges | None = None) -> Job:
        return await self.send(calls.retry(job_id, changes))

    async def move(self, job_id: str, reason: str = "", *, force: bool = False) -> Job:
        return await self.send(calls.move(job_id, reason, force=force))

    async def clone(self, job_id: str, changes: JobChanges | None = None) -> Submitted:
        return await self.send(calls.clone(job_id, changes))

    async def result(self, job_id: str, wait: float = 30.0) -> JobResult:
        return await self.send(calls.result(job_id, wait))

    async def explain(self, job_id: str) -> Explanation:
        return await self.send(calls.explain(job_id))

    async def timeline(self, job_id: str) -> Timeline:
        return await self.send(calls.timeline(job_id))

    async def executions(self, job_id: str) -> ExecutionPage:
        return await self.send(calls.executions(job_id))

    async def executions_by_worker(
        self, worker_id: int, cursor: str | None = None, limit: int | None = None
    ) -> ExecutionPage:
        return await self.send(calls.executions_by_worker(worker_id, cursor, limit))
