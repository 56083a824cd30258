"""What children say and how they end, turned into completions."""

from collections.abc import Callable

import structlog

from horae.model.states import End
from horae.model.work import NOTE_CHARACTERS, Finished, Progress
from horae.worker.clock import now
from horae.worker.config import AgentConfig
from horae.worker.dispatch import Dispatch
from horae.worker.ends import crashed, stopped
from horae.worker.logs import PARTIAL, JobLog
from horae.worker.messages import Ask, Done, Ended, FromChild, Noted, Order, Piece, Returned, Save, decode_entries
from horae.worker.process import Child
from horae.worker.redaction import redact, redact_start

log = structlog.get_logger()


class Results:
    def __init__(
        self,
        config: AgentConfig,
        dispatch: Dispatch,
        output: Callable[[JobLog, str, bytes], None],
        save: Callable[[Child, Order, Save], None],
        changed: Callable[[], None],
        disclose: Callable[[Child, Order, Ask], None],
    ) -> None:
        self._config = config
        self._dispatch = dispatch
        self._output = output
        self._save = save
        self._changed = changed
        self._disclose = disclose

    def ready(self, child: Child) -> None:
        self._dispatch.feed(child)
        self._changed()

    def heard(self, child: Child, message: FromChild) -> None:
        match message:
            case Done(jobs):
                self._done(child, jobs)
            case Returned(seqs):
                self._returned(child, seqs)
            case Noted(seq):
                self._noted(child, child.jobs.get(seq), message)
            case Save(seq):
                if (order := child.jobs.get(seq)) is not None:
                    self._save(child, order, message)
            case Piece(seq, data):
                if (order := child.jobs.get(seq)) is not None:
                    self._output(self._log_of(child, order), PARTIAL, child.masker.mask_json(bytes(data)))
            case Ask(seq):
                if (order := child.jobs.get(seq)) is not None:
                    self._disclose(child, order, message)

    def wrote(self, child: Child, seq: int, stream: str, data: bytes) -> None:
        order = child.jobs.get(seq)
        if order is None:
            if not child.ready:
                log.info("output_at_import", pid=child.pid, text=data[:1000].decode(errors="replace"))
            return
        if child.masker:
            data = child.masker.mask(_stream(seq, stream), data)
        if data:
            self._output(self._log_of(child, order), stream, data)

    def _log_of(self, child: Child, order: Order) -> JobLog:
        job_log = child.logs.get(order.seq)
        if job_log is None:
            job_log = child.logs[order.seq] = JobLog(order.grant, self._config.log_limit)
        return job_log

    def _mask(self, child: Child, order: Order, finished: Finished) -> None:
        """Nothing of the end of a job shows what its process was told."""
        for stream in ("stdout", "stderr"):
            if rest := child.masker.flush(_stream(order.seq, stream)):
                self._output(self._log_of(child, order), stream, rest)
        redact(finished, child.masker)

    def _done(self, child: Child, jobs: list[Ended]) -> None:
        child.read_output()
        before = len(child.jobs)
        totals: dict[str, tuple[int, float]] = {}
        plain: list[Finished] = []
        knows_secrets = bool(child.masker)
        for ended in jobs:
            seq, finished = ended.seq, ended.finished
            if seq in child.endings:
                self._stopped(child, ended)
            elif (order := child.jobs.pop(seq, None)) is not None:
                count, seconds = totals.get(order.grant.task, (0, 0.0))
                totals[order.grant.task] = (count + 1, seconds + finished.took)
                if knows_secrets:
                    self._mask(child, order, finished)
                if seq in child.logs:
                    self._dispatch.report(finished, child.logs.pop(seq))
                else:
                    plain.append(finished)
            # Otherwise it is known already: it was sent and in the journal as well when the child died.
        self._dispatch.report_all(plain)
        self._learn(child, totals, before)
        self._dispatch.feed_after(child)
        self._changed()

    def _learn(self, child: Child, totals: dict[str, tuple[int, float]], before: int) -> None:
        child.expected *= len(child.jobs) / max(before, 1)
        child.slow = child.slow and bool(child.jobs)
        if not child.concurrent:
            for task, (count, seconds) in totals.items():
                self._dispatch.pace.learn(task, count, seconds)

    def _stopped(self, child: Child, ended: Ended) -> None:
        """A job that was told to stop has. A coroutine is gone then; a process is reported when its tree is gone."""
        ending = child.endings[ended.seq]
        ending.finished = ended.finished
        ending.settled.set()
        if child.concurrent:
            del child.endings[ended.seq]
            order = child.jobs.pop(ended.seq)
            self._report(child, order, ending.verdict(order))

    def _report(self, child: Child, order: Order, finished: Finished) -> None:
        if child.masker:
            self._mask(child, order, finished)
        self._dispatch.report(finished, child.logs.pop(order.seq, None))

    def _returned(self, child: Child, seqs: list[int]) -> None:
        child.revoking = False
        child.expected = 0.0
        self._dispatch.take_back([child.jobs.pop(seq) for seq in seqs if seq in child.jobs])
        self._dispatch.feed_all()

    def _noted(self, child: Child, order: Order | None, noted: Noted) -> None:
        if order is not None:
            grant, note = order.grant, noted.note
            if note is not None and child.masker:
                note = redact_start(note, child.masker, NOTE_CHARACTERS)
            self._dispatch.progress[grant.id] = Progress(grant.id, grant.attempt, noted.done, noted.total, note)

    # A child has ended.

    def gone(self, child: Child, status: int) -> None:
        if not child.discarded:
            self._done(child, decode_entries(child.board.unsent()))
            self._account(child, status)
            self._dispatch.feed_all()
        self._changed()

    def _account(self, child: Child, status: int) -> None:
        """Blames the job that ran; the ones behind it never knew."""
        for seq, order in list(child.jobs.items()):
            outcome = self._blame(child, order, status)
            if outcome is not None:
                del child.jobs[seq]
                self._report(child, order, outcome)
        self._dispatch.take_back(list(child.jobs.values()))
        child.jobs.clear()

    def _blame(self, child: Child, order: Order, status: int) -> Finished | None:
        ending = child.endings.get(order.seq)
        if ending is not None:
            return ending.verdict(order)
        if child.concurrent and child.endings:
            text = "another job of the same process did not stop when told to, so the process was ended"
            return stopped(order, End.LOST, text, order.sent)
        if child.concurrent:
            return crashed(order, status, child.last_words, order.sent)
        running = child.board.running()
        if running is None or running.seq != order.seq:
            return None
        return crashed(order, status, child.last_words, min(running.started, now()))


def _stream(seq: int, stream: str) -> str:
    return f"{seq} {stream}"
