"""Claims: what was chosen, taken from the database. Lanes with limits go down in a statement of their own, so that the
others never wait for a limit's lock.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Final, NamedTuple

import asyncpg

from horae.engine.choice import Chosen
from horae.engine.policy import Policy
from horae.engine.sessions import Session
from horae.model.limits import Group, distinct, spread_group
from horae.store.jobs import Jobs, LaneClaim, LaneGroups

_lane_id = itemgetter("lane_id")


class Cut(NamedTuple):
    """A lane that a limit let give less than it was asked for."""

    lane_id: int
    group: Group
    allowed: int
    """How many it might give."""
    wait: float | None
    """Seconds until a rate has a start to give again; None when a running job must end first."""


class Claimed:
    def __init__(self, rows: list[asyncpg.Record], cuts: list[Cut], fruitless: Sequence[Chosen] = ()) -> None:
        self.rows = rows
        """Lane by lane, each in the order of rank."""
        self.cuts = cuts
        self.fruitless = fruitless
        """Lanes of a statement that said nothing of any lane: they are empty, or the policy was no longer the
        present."""

    @cached_property
    def counts(self) -> Mapping[int, int]:
        """How many rows each lane gave, in the order in which they come."""
        return Counter(map(_lane_id, self.rows))


NOTHING: Final = Claimed([], [])


class Claims:
    def __init__(self, jobs: Jobs, policy: Policy) -> None:
        self._jobs = jobs
        self._policy = policy

    def groups(self, session: Session, chosen: Chosen) -> tuple[Group, ...]:
        """The limits of a lane, with that of its spread over workers."""
        hint = chosen.hint
        groups = self._policy.of(hint.lane_id, hint.key).groups
        spread = hint.profile.placement.spread
        return groups if spread is None else (*groups, spread_group(hint.lane_id, session.worker_id, spread))

    async def take(self, session: Session, number: int, chosen: Sequence[Chosen], want: int) -> Claimed:
        plain: list[Chosen] = []
        limited: list[tuple[Chosen, tuple[Group, ...]]] = []
        for lane in chosen:
            groups = self.groups(session, lane)
            if groups:
                limited.append((lane, groups))
            else:
                plain.append(lane)
        # Each kind may take what its lanes were promised; the ones without limits first, for they wait for no lock.
        promised = sum(lane.quota for lane in plain)
        rows = await self._plain(session, number, plain, min(want, promised)) if plain else []
        if not limited or len(rows) >= want:
            return Claimed(rows, [], [] if rows else plain)
        got = await self._limited(session, number, limited, want - len(rows))
        fruitless = [] if rows else plain
        if not got.rows and not got.cuts:
            fruitless += [lane for lane, _ in limited]
        return Claimed(rows + got.rows, got.cuts, fruitless)

    async def _plain(self, session: Session, number: int, lanes: Sequence[Chosen], want: int) -> list[asyncpg.Record]:
        return await self._jobs.job_claim(
            session.worker_id, number, lanes[0].policy, want, [_lane_claim(lane) for lane in lanes]
        )

    async def _limited(
        self, session: Session, number: int, lanes: Sequence[tuple[Chosen, tuple[Group, ...]]], want: int
    ) -> Claimed:
        groups = distinct([of_lane for _, of_lane in lanes])
        place = {group.id: number for number, group in enumerate(groups, 1)}
        rows = await self._jobs.job_claim_limited(
            session.worker_id,
            number,
            lanes[0][0].policy,
            want,
            [_lane_claim(lane) for lane, _ in lanes],
            LaneGroups(
                [group.id for group in groups],
                [group.max_running for group in groups],
                [group.rate for group in groups],
                [group.burst for group in groups],
                [len(of_lane) for _, of_lane in lanes],
                [place[group.id] for _, of_lane in lanes for group in of_lane],
            ),
        )
        by_id = {group.id: group for group in groups}
        cuts = [
            Cut(row["lane_id"], by_id[row["rank"]], row["attempt"], row["wait"]) for row in rows if row["id"] is None
        ]
        return Claimed([row for row in rows if row["id"] is not None], cuts)


def _lane_claim(chosen: Chosen) -> LaneClaim:
    hint = chosen.hint
    return LaneClaim(hint.lane_id, hint.key.tenant_id, hint.floor, chosen.ceiling, chosen.quota)
