"""Gates: whom they concern, and the limits they put on lanes."""

from hypothesis import given
from hypothesis import strategies as st

from horae.model.gates import Action, Gate, chosen, concerns, rate_group
from horae.store.control import LaneKey

names = st.sampled_from(["a", "b"])
lanes = st.builds(LaneKey, st.integers(1, 2), names, names)
gates = st.builds(
    Gate, id=st.integers(1, 9), action=st.just(Action.HOLD), tenant_id=st.none() | st.integers(1, 2),
    queue=st.none() | names, task=st.none() | names,
)  # fmt: skip


@given(gates, lanes)
def test_a_gate_concerns_the_lanes_that_are_as_it_says(gate: Gate, lane: LaneKey) -> None:
    said = {"tenant_id": gate.tenant_id, "queue": gate.queue, "task": gate.task}
    assert concerns(gate, lane) == all(getattr(lane, k) == v for k, v in said.items() if v is not None)


@given(st.integers(1, 99), st.uuids())
def test_a_percentage_decides_the_same_for_the_same_job(percent: int, job: object) -> None:
    gate = Gate(id=1, action=Action.HOLD, percent=percent)
    assert chosen(gate, str(job)) == chosen(gate, str(job))
    more = Gate(id=1, action=Action.HOLD, percent=99)
    assert chosen(more, str(job)) or not chosen(gate, str(job))


def test_a_percentage_is_about_that_many() -> None:
    gate = Gate(id=1, action=Action.HOLD, percent=30)
    assert 250 < sum(chosen(gate, f"job {n}") for n in range(1000)) < 350


def test_only_whole_lanes_are_slowed_down_by_a_release() -> None:
    shut = Gate(id=1, action=Action.HOLD, released_at=None)
    assert rate_group(shut) is None
    assert rate_group(Gate(id=1, action=Action.HOLD, probe_seconds=20.0)).rate == 1 / 20  # type: ignore[union-attr]
