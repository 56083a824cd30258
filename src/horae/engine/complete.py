"""Complete: the end of attempts, as workers report them.

A completion names (id, attempt) and counts only while that worker holds that lease; otherwise it is *stale* and
refused, unless it is our own answer that got lost and the worker reports the same end again.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import structlog

from horae import failpoints
from horae.engine import overtaken
from horae.engine.durations import Durations
from horae.engine.lanes import Lanes
from horae.engine.offers import away_from
from horae.engine.parking import Parking
from horae.engine.rows import error_text
from horae.engine.signals import Signals
from horae.engine.tally import Runs, Tally, sums_of
from horae.engine.watch import Ended, Watch
from horae.model.durations import LONGEST
from horae.model.errors import InvalidInput
from horae.model.fingerprint import fingerprint
from horae.model.job import INLINE_RESULT_BYTES, read_options
from horae.model.retry import DEFAULT_MAX_ATTEMPTS, RetryPolicy
from horae.model.states import COSTS_NOTHING, End, State
from horae.model.verdict import History, Verdict, judge
from horae.model.work import Finished
from horae.store.control import LaneKey
from horae.store.jobs import Jobs, Used

log = structlog.get_logger()

_MOST_CHARACTERS: Final = 200

Fence = tuple[str, int]


class Complete:
    def __init__(
        self,
        jobs: Jobs,
        lanes: Lanes,
        watch: Watch,
        signals: Signals,
        tally: Tally,
        durations: Durations,
        parking: Parking,
    ) -> None:
        self._jobs = jobs
        self._lanes = lanes
        self._watch = watch
        self._signals = signals
        self._tally = tally
        self._durations = durations
        self._parking = parking

    async def attempts(self, worker_id: int, finished: Sequence[Finished]) -> list[Fence]:
        """Ends these attempts, each in its own way. Returns the stale ones."""
        finished = list({(f.id, f.attempt): _bounded(f) for f in finished}.values())
        lanes = await self._lanes.keys({f.lane for f in finished})
        successes: list[Finished] = []
        others: list[Finished] = []
        for f in finished:
            plain = f.end is End.SUCCEEDED and f.blob is None and f.cpu is None and f.usage is None
            (successes if plain else others).append(f)
        if any(f.end is End.PARKED for f in others):
            others = await self._park(worker_id, others, lanes)
            finished = [*successes, *others]
        missed: list[Finished] = []
        ran = sums_of(successes)
        if successes:
            missed += await self._succeed(worker_id, successes, ran, lanes)
        if others:
            missed += await self._judge_others(worker_id, others, lanes)
        self._signals.ended(worker_id, sums_of(finished) if others else ran)
        return await self._stale(worker_id, missed, lanes) if missed else []

    async def _park(self, worker_id: int, ends: Sequence[Finished], lanes: dict[int, LaneKey]) -> list[Finished]:
        """Returns what is left to be ended."""
        parked = [f for f in ends if f.end is End.PARKED and f.lane in lanes]
        failed = await self._parking.park(worker_id, parked, lanes, _used(parked, lanes))
        return [f for f in ends if f.end is not End.PARKED or f.lane not in lanes] + failed

    async def _succeed(
        self, worker_id: int, done: Sequence[Finished], ran: Mapping[int, Runs], lanes: dict[int, LaneKey]
    ) -> list[Finished]:
        rows = [
            (f.lane, f.id, f.attempt, lanes[f.lane].tenant_id, _text(f.result), f.waited)
            for f in done
            if f.lane in lanes
        ]
        failpoints.reach("succeed.before_commit")
        ended = await self._jobs.job_succeed(worker_id, rows) if rows else set()
        failpoints.reach("succeed.after_commit")
        good = done if len(ended) == len(done) else [f for f in done if f.id in ended]
        self._count_ends(good, ran if good is done else sums_of(good), State.SUCCEEDED, lanes)
        if self._watch.anybody:
            for f in good:
                self._watch.ended(f.id, Ended(State.SUCCEEDED, _text(f.result), None, None, f.attempt))
        return [] if good is done else [f for f in done if f.id not in ended]

    def _count_ends(
        self, ended: Sequence[Finished], ran: Mapping[int, Runs], state: State, lanes: dict[int, LaneKey]
    ) -> None:
        self._tally.ended(ended, ran, state)
        self._durations.learn_lanes(ran, lanes)

    async def _judge_others(
        self, worker_id: int, others: Sequence[Finished], lanes: dict[int, LaneKey]
    ) -> list[Finished]:
        known = [f for f in others if f.lane in lanes]
        facts = (
            await self._jobs.failure_facts(
                worker_id, [(lanes[f.lane].tenant_id, f.id, f.attempt) for f in known if f.end is not End.SUCCEEDED]
            )
            if any(f.end is not End.SUCCEEDED for f in known)
            else {}
        )
        final, again = [], []
        for f in known:
            if f.end is End.SUCCEEDED:
                final.append((f, State.SUCCEEDED))
                continue
            verdict = self._verdict(f, facts.get(f.id))
            if verdict.state.ended:
                final.append((f, verdict.state))
            else:
                again.append((f, verdict, facts[f.id]["rank"]))
        ended = await self._end(worker_id, final, lanes) if final else set()
        ended |= await self._reschedule(worker_id, again, lanes) if again else set()
        return [f for f in others if f.id not in ended]

    def _verdict(self, f: Finished, fact: "object | None") -> Verdict:
        if fact is None:
            return Verdict(State.FAILED)
        row = dict(fact)  # type: ignore[call-overload]
        options = read_options(row["options"])
        history = History(
            failures=row["failures"],
            crashes=row["crashes"],
            max_attempts=options.max_attempts or DEFAULT_MAX_ATTEMPTS,
            retry=options.retry or RetryPolicy(),
            cancel_requested=row["cancel_requested"],
        )
        return judge(f.end, history, random.random(), f.retry_after)

    async def _end(
        self, worker_id: int, final: Sequence[tuple[Finished, State]], lanes: dict[int, LaneKey]
    ) -> set[str]:
        rows = [
            (f.lane, f.id, f.attempt, lanes[f.lane].tenant_id, state.value, f.end.value, _text(f.result),
             error_text(f.error), f.blob, f.waited, f.cpu, f.peak_memory,
             fingerprint(f.error) if state is State.FAILED else None)
            for f, state in final
        ]  # fmt: skip
        failpoints.reach("complete.before_commit")
        ended = await self._jobs.job_complete(worker_id, rows, _used([f for f, _ in final], lanes))
        failpoints.reach("complete.after_commit")
        for f, state in final:
            if f.id in ended:
                self._watch.ended(f.id, Ended(state, _text(f.result), error_text(f.error), f.blob, f.attempt))
                self._count_ends([f], sums_of([f]), state, lanes)
                if state is State.FAILED:
                    log.info("job_failed", job=f.id, attempt=f.attempt, end=f.end.value)
        return ended

    async def _reschedule(
        self, worker_id: int, again: Sequence[tuple[Finished, Verdict, int]], lanes: dict[int, LaneKey]
    ) -> set[str]:
        rows = [
            (f.lane, f.id, f.attempt, lanes[f.lane].tenant_id, f.end.value, error_text(f.error), f.waited, f.cpu,
             f.peak_memory, rank, verdict.pause.total_seconds())
            for f, verdict, rank in again
        ]  # fmt: skip
        away = await self._away(worker_id, again, lanes)
        used = _used([f for f, _, _ in again], lanes)
        failpoints.reach("reschedule.before_commit")
        moved, cancelled = await (
            self._jobs.job_relocate(worker_id, rows, away, used)
            if away or used
            else self._jobs.job_reschedule(worker_id, rows)
        )
        failpoints.reach("reschedule.after_commit")
        other_lane = {job_id: to for _, job_id, _, _, to in away}
        self._signals.moved((other_lane.get(row["id"], row["lane_id"]), row["rank"], row["pause"]) for row in moved)
        ended = {row["id"] for row in moved}
        self._count_returns([f for f, _, _ in again if f.id in ended], lanes)
        for _, job_id, _, lane_id, to in away:
            if job_id in ended:
                self._tally.moved(lane_id, to)
        overtaken.tell(cancelled, self._watch, self._tally)
        return ended

    async def _away(
        self, worker_id: int, again: Sequence[tuple[Finished, Verdict, int]], lanes: dict[int, LaneKey]
    ) -> list[tuple[int, str, int, int, int]]:
        """Where moved jobs go: (tenant, id, rank, lane, the lane that leaves this worker out)."""
        moved = [(f, rank) for f, _, rank in again if f.end is End.MOVED]
        if not moved:
            return []
        elsewhere = {f.lane: away_from(lanes[f.lane], worker_id) for f, _ in moved}
        numbers = await self._lanes.intern(elsewhere.values())
        return [(lanes[f.lane].tenant_id, f.id, rank, f.lane, numbers[elsewhere[f.lane]]) for f, rank in moved]

    def _count_returns(self, again: Sequence[Finished], lanes: dict[int, LaneKey]) -> None:
        """A grant that was never delivered or was moved says nothing of the task; the other attempts failed."""
        blameless = [f for f in again if f.end in COSTS_NOTHING]
        failed = [f for f in again if f.end not in COSTS_NOTHING]
        self._tally.returned(blameless, failed=False)
        self._durations.learn_lanes(self._tally.returned(failed, failed=True), lanes)

    async def _stale(self, worker_id: int, missed: Sequence[Finished], lanes: dict[int, LaneKey]) -> list[Fence]:
        keys = [(lanes[f.lane].tenant_id, f.id, f.attempt, f.end.value) for f in missed if f.lane in lanes]
        known = await self._jobs.completion_known(worker_id, keys) if keys else set()
        stale = [(f.id, f.attempt) for f in missed if (f.id, f.attempt) not in known]
        if stale:
            log.warning("stale_completions", worker=worker_id, count=len(stale), first=stale[0][0])
        return stale


def _text(raw: msgspec.Raw | msgspec.UnsetType) -> str | None:
    if raw is msgspec.UNSET:
        return None
    data = bytes(raw)
    if len(data) > INLINE_RESULT_BYTES:
        raise InvalidInput(f"result: {len(data)} bytes inline; upload results over {INLINE_RESULT_BYTES} bytes first")
    try:
        return None if data == b"null" else data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("result: not UTF-8") from error


def _bounded(f: Finished) -> Finished:
    """Numbers of a worker that would leave the calendar are brought back into it."""
    longest = LONGEST.total_seconds()
    f.waited = min(max(f.waited, 0.0), longest)
    if f.retry_after is not None:
        f.retry_after = min(max(f.retry_after, 0.0), longest)
    return f


def _used(finished: Sequence[Finished], lanes: dict[int, LaneKey]) -> list[Used]:
    return [
        Used(
            lanes[f.lane].tenant_id, f.id, f.attempt, f.usage.version, f.usage.isolation[:_MOST_CHARACTERS],
            f.usage.read_bytes, f.usage.written_bytes,
        )
        for f in finished if f.usage is not None
    ]  # fmt: skip
