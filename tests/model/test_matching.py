"""Placements and workers: the predicates that dispatch and explain share, by properties."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.errors import InvalidInput
from horae.model.job import JobRequest
from horae.model.matching import (
    Free,
    MisfitCode,
    Offer,
    affinity,
    demand,
    fits,
    misfits,
    placement_of,
    room,
    sticky_bucket,
    sticky_choice,
    whole,
)
from horae.model.placement import ANYWHERE, STICKY_BUCKETS, Placement, Requirements, Traits, canonical, read_placement
from horae.model.sizes import format_size, parse_size
from horae.model.task import TaskDefinition, check_task
from horae.model.wishes import check_placement

words = st.sampled_from(["a", "b", "c"])
maybe = st.none() | words
labels = st.dictionaries(words, words, max_size=2)
amounts = st.none() | st.integers(1, 4).map(float)
sizes = st.none() | st.sampled_from([1, 1024, "1KiB", "2MiB", "1.5GB"])
requirements = st.builds(
    Requirements, labels=labels, kind=maybe, region=maybe, zone=maybe, cpu=amounts, gpu=amounts, memory=sizes,
    disk=sizes, slots=st.integers(1, 4),
)  # fmt: skip
traits = st.builds(Traits, labels=labels, kind=maybe, region=maybe, zone=maybe)
placements = st.builds(
    Placement, requires=requirements, prefers=traits, avoids=traits,
    not_workers=st.lists(st.integers(1, 3), max_size=2).map(tuple),
)  # fmt: skip
offers = st.builds(
    Offer, worker_id=st.integers(1, 3), labels=labels, kind=maybe, region=maybe, zone=maybe, slots=st.integers(1, 4),
    cpus=amounts, gpus=amounts, memory=st.none() | st.integers(0, 2**22), disk=st.none() | st.integers(0, 2**22),
)  # fmt: skip
frees = st.builds(
    Free, slots=st.integers(0, 9), cpu=st.floats(0, 9), memory=st.integers(0, 2**22), gpu=st.floats(0, 9),
    disk=st.integers(0, 2**22),
)  # fmt: skip


@given(placements, offers)
def test_a_worker_fits_exactly_when_it_has_no_misfit(placement: Placement, offer: Offer) -> None:
    assert fits(placement, offer) == (not misfits(placement, offer))


@given(placements, offers)
def test_a_worker_that_fits_has_room_when_idle(placement: Placement, offer: Offer) -> None:
    if fits(placement, offer):
        assert room(placement, whole(offer)) >= 1


@given(placements, frees, st.sampled_from(["slots", "cpu", "memory", "gpu", "disk"]))
def test_more_of_anything_never_leaves_less_room(placement: Placement, free: Free, field: str) -> None:
    before = room(placement, free)
    setattr(free, field, getattr(free, field) + 1)
    assert room(placement, free) >= before


@given(placements, frees)
def test_what_there_is_room_for_does_not_take_more_than_is_free(placement: Placement, free: Free) -> None:
    count, need = room(placement, free), demand(placement)
    for takes, has in zip(need, (free.slots, free.cpu, free.memory, free.gpu, free.disk), strict=True):
        assert count * takes <= has + 1e-6


@given(placements)
def test_a_placement_has_one_spelling_and_reads_back_as_the_same(placement: Placement) -> None:
    text = canonical(placement)
    again = read_placement(text)
    assert canonical(again) == text
    assert demand(again) == demand(placement)
    assert again.prefers == placement.prefers


def test_two_spellings_of_one_amount_share_a_lane() -> None:
    by_text = Placement(requires=Requirements(memory="2GiB", cpu=1), prefers=Traits())
    by_number = Placement(requires=Requirements(memory=2**31, cpu=1.0))
    assert canonical(by_text) == canonical(by_number) == '{"requires":{"cpu":1.0,"memory":2147483648}}'
    assert canonical(Placement(requires=Requirements(), avoids=Traits())) == ""


@given(st.integers(0, STICKY_BUCKETS - 1), st.sets(st.integers(1, 10_000), min_size=2, max_size=20))
def test_a_worker_that_goes_moves_only_its_own_buckets(bucket: int, ids: set[int]) -> None:
    chosen = sticky_choice(bucket, sorted(ids))
    for gone in ids - {chosen}:
        assert sticky_choice(bucket, sorted(ids - {gone}, reverse=True)) == chosen


def test_sticky_keys_spread_over_all_buckets_and_workers() -> None:
    buckets = {sticky_bucket(f"customer-{number}") for number in range(2000)}
    assert buckets == set(range(STICKY_BUCKETS))
    shares = [sticky_choice(bucket, [11, 12, 13, 14]) for bucket in buckets]
    assert all(shares.count(worker) >= STICKY_BUCKETS // 16 for worker in (11, 12, 13, 14))


@given(placements, offers)
def test_affinity_is_between_minus_one_and_one(placement: Placement, offer: Offer) -> None:
    assert -1 <= affinity(placement, offer) <= 1


def test_what_is_preferred_goes_before_what_is_avoided() -> None:
    placement = Placement(prefers=Traits(region="eu", labels={"disk": "ssd"}), avoids=Traits(kind="spot"))
    good = Offer(worker_id=1, region="eu", labels={"disk": "ssd"})
    half = Offer(worker_id=2, region="eu")
    bad = Offer(worker_id=3, kind="spot")
    assert affinity(placement, good) == 1
    assert affinity(placement, good) > affinity(placement, half) > affinity(placement, bad)


def test_misfits_name_what_is_wanted_and_what_is_there() -> None:
    placement = Placement(
        requires=Requirements(labels={"os": "linux"}, region="eu", memory="4GiB", gpu=1, slots=8), not_workers=(7,)
    )
    found = {m.code: m.words for m in misfits(placement, Offer(worker_id=7, region="us", memory=2**31, slots=2))}
    assert set(found) == {
        MisfitCode.MISSING_LABEL, MisfitCode.WRONG_REGION, MisfitCode.TOO_LITTLE_MEMORY, MisfitCode.TOO_FEW_GPUS,
        MisfitCode.TOO_FEW_SLOTS, MisfitCode.MOVED_AWAY,
    }  # fmt: skip
    assert found[MisfitCode.TOO_LITTLE_MEMORY] == "4GiB of memory wanted, it has 2GiB of memory"
    assert found[MisfitCode.MISSING_LABEL] == "label os=linux is wanted, it has no label os"


def test_a_job_speaks_over_its_task_field_by_field() -> None:
    task = TaskDefinition(
        name="t", requires=Requirements(gpu=1, region="eu", labels={"os": "linux", "gen": "1"}), spread=2
    )
    request = JobRequest(task="t", requires=Requirements(region="us", labels={"gen": "2"}), sticky="me")
    found = placement_of(request, task)
    assert found.requires == Requirements(gpu=1.0, region="us", labels={"os": "linux", "gen": "2"})
    assert (found.spread, found.sticky) == (2, sticky_bucket("me"))
    assert placement_of(JobRequest(task="t"), TaskDefinition(name="t")) is ANYWHERE


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"memory": "2 gigs"}, "not a size"),
        ({"memory": -1}, "outside"),
        ({"disk": "0"}, "outside"),
        ({"memory": "5000PiB"}, "outside"),
        ({"cpu": 0.0}, "outside 0…"),
        ({"cpu": -2.0}, "outside 0…"),
        ({"gpu": 1e9}, "outside 0…"),
        ({"cpu": float("nan")}, "outside 0…"),
        ({"slots": 0}, "outside 1…1000"),
        ({"slots": 1001}, "outside 1…1000"),
        ({"labels": {f"n{i}": "v" for i in range(33)}}, "more than 32"),
        ({"labels": {"no name": "v"}}, "not a name"),
        ({"labels": {"n": "v" * 201}}, "at most 200"),
        ({"region": "\x00"}, "no NUL"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(wish: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        check_placement(Requirements(**wish), None, None)
    with pytest.raises(InvalidInput, match=said):
        check_task(TaskDefinition(name="t", requires=Requirements(**wish)))


@pytest.mark.parametrize(("sticky", "spread"), [("", None), ("x" * 201, None), (None, 0), (None, 100_001)])
def test_sticky_and_spread_are_bounded(sticky: str | None, spread: int | None) -> None:
    with pytest.raises(InvalidInput):
        placement_of(JobRequest(task="t", sticky=sticky, spread=spread), TaskDefinition(name="t"))


@given(st.integers(1, 2**60))
def test_a_size_in_bytes_is_itself(size: int) -> None:
    assert parse_size(size) == parse_size(str(size)) == size


def test_sizes_read_as_people_write_them() -> None:
    assert [parse_size(text) for text in ("512MiB", "2gb", "1.5 GiB", "7B")] == [2**29, 2 * 10**9, 3 * 2**29, 7]
    assert [format_size(size) for size in (0, 2**31, 1536 * 2**20)] == ["0B", "2GiB", "1.5GiB"]
