"""Reservations: a large job is not starved by small ones.

Small jobs fill every gap, so a job that needs much of a worker at once may never find it. When one has waited too long,
a worker that could run it is kept for it: it gets nothing else until there is room.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import structlog

from horae.engine.backlog import Backlog, Profile
from horae.engine.sessions import Session

log = structlog.get_logger()

PATIENCE_SECONDS: Final = 10.0
LONGEST_SECONDS: Final = 300.0


class Reservations:
    def __init__(self, backlog: Backlog, sessions: Callable[[], Iterator[Session]]) -> None:
        self._backlog = backlog
        self._sessions = sessions
        self._waiting_since: dict[Profile, float] = {}
        self._made_at: dict[Profile, float] = {}

    def served(self, session: Session, profile: Profile) -> None:
        """A job of the profile was taken: its wait begins anew."""
        self._waiting_since.pop(profile, None)
        self._made_at.pop(profile, None)
        if session.reserved_for is profile:
            session.reserved_for = None

    def look(self) -> None:
        now = time.monotonic()
        sessions = list(self._sessions())
        heavy = {profile for profile in self._backlog.active() if profile.heavy}
        self._waiting_since = {profile: self._waiting_since.get(profile, now) for profile in heavy}
        self._let_go(sessions, heavy, now)
        for profile, since in self._waiting_since.items():
            if now - since > PATIENCE_SECONDS and profile not in self._made_at:
                self._reserve(profile, sessions, now)

    def _let_go(self, sessions: Sequence[Session], heavy: AbstractSet[Profile], now: float) -> None:
        """Ends what lasts too long, what nothing waits for any more, and what a worker that is gone was kept for."""
        late = {profile for profile, at in self._made_at.items() if now - at > LONGEST_SECONDS}
        self._waiting_since |= dict.fromkeys(late & heavy, now)
        for session in sessions:
            kept = session.reserved_for
            if kept is not None and (
                kept in late or kept not in heavy or kept not in self._made_at or session.draining
            ):
                session.reserved_for = None
        still = {session.reserved_for for session in sessions}
        self._made_at = {profile: at for profile, at in self._made_at.items() if profile in still}

    def _reserve(self, profile: Profile, sessions: list[Session], now: float) -> None:
        able = [s for s in sessions if s.can_run(profile) and not s.draining and s.reserved_for is None]
        if not able:
            return
        best = max(able, key=lambda session: (session.free.slots, -session.rating))
        best.reserved_for = profile
        self._made_at[profile] = now
        log.info("worker_reserved", worker=best.worker_id, task=profile.task, queue=profile.queue)
