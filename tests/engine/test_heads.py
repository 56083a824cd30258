"""Heads: the first of a tenant's profiles is the one with the smallest head, whatever came and went."""

from hypothesis import given
from hypothesis import strategies as st

from horae.engine.backlog import Backlog
from horae.engine.heads import SPARE
from horae.engine.shares import Shares
from horae.store.control import LaneKey

KEYS = {number: LaneKey(1, f"queue-{number % 4}", "work", f"key-{number}") for number in range(12)}
lanes = st.sampled_from(sorted(KEYS))
moves = st.lists(st.tuples(st.sampled_from(["note", "claim", "quiet"]), lanes, st.integers(0, 50)), max_size=60)


def a_backlog() -> Backlog:
    return Backlog(Shares(lambda _: 1.0, lambda *_: None))


@given(moves)
def test_the_first_is_the_smallest_of_the_full_lanes(moves: list[tuple[str, int, int]]):
    backlog, full, claimed = a_backlog(), {}, set()
    for move, lane, rank in moves:
        if move == "note" and lane not in claimed:
            backlog.note(lane, KEYS[lane], rank)
            full[lane] = min(rank, full.get(lane, rank))
        elif move == "claim" and lane in full:
            backlog.claim(backlog.known(lane))  # type: ignore[arg-type]
            del full[lane]
            claimed.add(lane)
        elif move == "quiet" and lane in claimed:
            backlog.quiet(backlog.known(lane))  # type: ignore[arg-type]
            claimed.remove(lane)
        found = backlog.heads_of(1).first()
        assert (None if found is None else found[0]) == min(full.values(), default=None)
        queues = {profile.queue for profile in backlog.heads_of(1).profiles()}
        assert queues == {KEYS[lane].queue for lane in full}


def test_a_profile_that_is_set_aside_is_passed_over_until_it_is_noted_again():
    backlog = a_backlog()
    backlog.note(0, KEYS[0], 5)
    backlog.note(1, KEYS[1], 9)
    heads, first = backlog.heads_of(1), backlog.known(0)
    assert first is not None
    heads.set_aside(first.profile)
    assert heads.first() == (9, backlog.known(1).profile)  # type: ignore[union-attr]
    heads.note(first.profile, 5)
    assert heads.first() == (5, first.profile)


def test_what_is_listed_does_not_grow_with_what_happens():
    """A lane far behind, while another of its profile comes and goes."""
    backlog = a_backlog()
    backlog.note(0, KEYS[0], 1_000_000)
    for rank in range(500):
        backlog.note(4, KEYS[4], rank)
        hint = backlog.known(4)
        assert hint is not None
        assert backlog.heads_of(1).first() == (rank, hint.profile)
        backlog.claim(hint)
        assert backlog.heads_of(1).first() == (1_000_000, hint.profile)
        backlog.quiet(hint)
    assert len(backlog.heads_of(1)._order) <= 2 + SPARE
