"""Learning: what a claim teaches about its lanes. Which are still full, which are empty, which a limit holds, and what
their tenants are to be charged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from horae.engine.backlog import HIGHEST_RANK, Backlog, LaneHint
from horae.engine.choice import Chosen
from horae.engine.claims import Claimed, Claims, Cut
from horae.engine.reservations import Reservations
from horae.engine.sessions import Session
from horae.engine.shares import Emergencies
from horae.engine.tally import Tally
from horae.model.limits import spread_group
from horae.model.matching import less

LOOK_AGAIN_SECONDS: Final = 2.0
"""After this a lane that waits for a slot is tried again, though nobody said that there is one."""


class Learning:
    def __init__(
        self,
        backlog: Backlog,
        claims: Claims,
        emergencies: Emergencies,
        reservations: Reservations,
        tally: Tally,
        alarm: Callable[[int, float], None],
    ) -> None:
        self._backlog = backlog
        self._claims = claims
        self._emergencies = emergencies
        self._reservations = reservations
        self._tally = tally
        self._alarm = alarm

    def undo(self, session: Session, chosen: Sequence[Chosen]) -> None:
        """The claim was refused as a whole."""
        for lane in chosen:
            self._settle(session, lane, 0)
            self._backlog.fill(lane.hint)

    def learn(self, session: Session, chosen: Sequence[Chosen], got: Claimed, want: int) -> None:
        counts, last = got.counts, _last_ranks(got)
        # A lane that had less than it was still allowed was not stopped by the limit.
        cuts = {cut.lane_id: cut for cut in got.cuts if counts.get(cut.lane_id, 0) >= cut.allowed}
        enough = len(got.rows) >= want
        self._tally.claimed(got.rows)
        session.breadth.learn(len(chosen), len(got.rows), want)
        for lane in chosen:
            lane_id = lane.hint.lane_id
            count = counts.get(lane_id, 0)
            self._settle(session, lane, count)
            self._move_on(session, lane, count, last.get(lane_id), cuts.get(lane_id), enough=enough)
            if count:
                self._started(session, lane.hint, count)
        if not enough:
            self._pass_on(session, chosen, counts, got.cuts)

    def _settle(self, session: Session, lane: Chosen, count: int) -> None:
        """The tenant is charged for what was taken instead of what might have been."""
        seconds = lane.job_seconds * count
        self._backlog.charge(session, lane.hint.key.tenant_id, seconds - lane.pledged)
        if count:
            session.charges.note(lane.hint.lane_id, count, seconds)

    def _started(self, session: Session, hint: LaneHint, count: int) -> None:
        self._tally.started(hint.lane_id, count)
        self._emergencies.started(hint.key.tenant_id, count, urgent=hint.key.urgent)
        if hint.profile.heavy:
            session.free = less(session.free, hint.profile.demand, count)
            self._reservations.served(session, hint.profile)

    def _move_on(
        self, session: Session, lane: Chosen, count: int, last: int | None, cut: Cut | None, *, enough: bool
    ) -> None:
        hint = lane.hint
        heard, hint.heard = hint.heard, None
        # Doubt that a limit kept from being settled stays: else the lane is looked at below ceilings again, for ever.
        hint.doubtful = hint.doubtful and cut is not None and not count
        if last is not None:
            hint.floor = last if heard is None else min(last, heard)
        hint.head = lane.head if last is None else last
        if cut is not None and cut.group.id == _spread(session, hint):
            # Only this worker has its part; the lane has work for others.
            session.has_its_part(hint.lane_id, LOOK_AGAIN_SECONDS)
            self._refill(hint, heard)
            self._alarm(cut.group.id, LOOK_AGAIN_SECONDS)
        elif cut is not None:
            hint.head = hint.head if heard is None else min(hint.head, heard)
            self._backlog.block(hint, cut.group.id)
            self._alarm(cut.group.id, LOOK_AGAIN_SECONDS if cut.wait is None else cut.wait)
        elif enough or count >= lane.quota:
            self._refill(hint, heard)
        elif lane.ceiling < HIGHEST_RANK:
            # It gave all up to the ceiling; behind that there may be more.
            hint.head, hint.doubtful = lane.ceiling + 1, not count
            self._refill(hint, heard)
        elif heard is not None:
            hint.head = heard
            self._backlog.fill(hint)
        else:
            self._backlog.quiet(hint)

    def _refill(self, hint: LaneHint, heard: int | None) -> None:
        hint.head = hint.head if heard is None else min(hint.head, heard)
        self._backlog.fill(hint)

    def _pass_on(
        self, session: Session, chosen: Sequence[Chosen], counts: Mapping[int, int], cuts: Sequence[Cut]
    ) -> None:
        """Lanes that had less than there was room for: their groups have room for others."""
        allowed = {cut.lane_id: cut.allowed for cut in cuts}
        for lane in chosen:
            unused = allowed.get(lane.hint.lane_id, lane.quota) - counts.get(lane.hint.lane_id, 0)
            if unused > 0:
                for group in self._claims.groups(session, lane):
                    self._backlog.free(group.id, unused)


def _last_ranks(got: Claimed) -> dict[int, int]:
    """By lane, the highest rank that it gave."""
    last, end = {}, 0
    for lane_id, count in got.counts.items():
        end += count
        last[lane_id] = got.rows[end - 1]["rank"]
    return last


def _spread(session: Session, hint: LaneHint) -> int | None:
    """The group of a lane's jobs on one worker, if it is to be spread over several."""
    most = hint.profile.placement.spread
    return None if most is None else spread_group(hint.lane_id, session.worker_id, most).id
