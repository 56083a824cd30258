"""States, errors, roles, durations and names: the small words of the model."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model import errors
from horae.model.durations import LONGEST, format_duration, parse_duration
from horae.model.errors import HoraeError, InvalidInput, by_code
from horae.model.job import JobOptions, JobRequest, check_name, check_request, is_plain, read_options
from horae.model.placement import Requirements, Traits
from horae.model.roles import GRANTS, Permission, Role, may
from horae.model.states import (
    COSTS_NOTHING,
    COUNTS_AS_CRASH,
    OUTCOMES,
    PENDING,
    TRANSITIONS,
    USES_AN_ATTEMPT,
    End,
    State,
)
from horae.model.unique import Unique


def test_the_table_of_transitions_is_whole():
    assert TRANSITIONS.keys() == set(State)
    assert all(moves <= set(State) and state not in moves for state, moves in TRANSITIONS.items())
    assert {state for state, moves in TRANSITIONS.items() if not moves} == {State.SUCCEEDED, State.EXPIRED}


def test_every_state_can_be_reached_from_a_new_job():
    reached, todo = set(), [State.SCHEDULED, State.BLOCKED, State.READY]
    while todo:
        state = todo.pop()
        if state not in reached:
            reached.add(state)
            todo += TRANSITIONS[state]
    assert reached == set(State)


def test_a_state_is_pending_running_or_ended():
    assert PENDING | OUTCOMES | {State.RUNNING} == set(State)
    assert not PENDING & OUTCOMES
    assert {state.table for state in OUTCOMES} == {"outcome"}
    assert len({state.table for state in PENDING}) == len(PENDING)


def test_only_a_running_job_succeeds_or_fails():
    for outcome in (State.SUCCEEDED, State.FAILED):
        assert [state for state, moves in TRANSITIONS.items() if outcome in moves] == [State.RUNNING]


def test_an_end_counts_at_most_one_way():
    assert not USES_AN_ATTEMPT & COUNTS_AS_CRASH
    # A parked attempt goes on: it has not ended.
    free = {End.SUCCEEDED, End.CANCELLED, End.PARKED} | COSTS_NOTHING
    assert USES_AN_ATTEMPT | COUNTS_AS_CRASH | free == set(End)


async def test_the_database_knows_the_same_words(conn):
    outcomes = await conn.fetchval("select enum_range(null::outcome_state)::text[]")
    ends = await conn.fetchval("select enum_range(null::execution_end)::text[]")
    assert (set(outcomes), set(ends)) == (set(OUTCOMES), set(End) - {End.PARKED})


def test_every_error_has_a_code_of_its_own_and_is_found_by_it():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, HoraeError)]
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert set(by_code().values()) == set(kinds)
    assert all(400 <= kind.status < 600 and kind.title for kind in kinds)


def test_roles_grow_from_viewer_to_admin_and_a_worker_only_works():
    order = [Role.VIEWER, Role.SUBMITTER, Role.OPERATOR, Role.ADMIN]
    for weaker, stronger in pairwise(order):
        assert GRANTS[weaker] < GRANTS[stronger]
    assert not may(Role.WORKER, Permission.JOBS_READ)
    assert all(may(role, Permission.PUBLIC) for role in Role)
    assert {permission for role in Role for permission in GRANTS[role]} == set(Permission)


@given(st.timedeltas(timedelta(0), LONGEST))
def test_a_duration_is_read_back_as_it_was_written(value):
    whole = value // timedelta(milliseconds=1) * timedelta(milliseconds=1)
    assert abs(parse_duration(format_duration(value)) - whole) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("1h30m", 5400), ("250ms", 0.25), ("PT1H30M", 5400), ("P1DT12H", 129_600), ("1.5h", 5400), (90, 90),
     (0, 0), (0.5, 0.5), ("2w", 1_209_600), (" 5s ", 5), ("P2W", 1_209_600)],
)  # fmt: skip
def test_durations_as_people_write_them(text, seconds):
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s",
        "5",
        "5 s",
        "-5s",
        "P",
        "PT",
        "1y",
        "5s5",
        "1e3s",
        "٣s",
        "9" * 70 + "s",
        -1,
        1e18,
        "99999w",
        float("nan"),
        float("inf"),
        True,
    ],
)
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(InvalidInput):
        parse_duration(text)


@pytest.mark.parametrize("name", ["a", "A9_", "reports.daily:v1/x-y", "_", "x" * 200])
def test_names(name):
    assert check_name(name, "task") == name


@pytest.mark.parametrize("name", ["", " ", "a b", "-a", ".a", "a\n", "é", "x" * 201, "a\x00"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(InvalidInput):
        check_name(name, "task")


def test_a_plain_request_is_one_that_nothing_but_its_name_can_spoil():
    plain = JobRequest(task="t", params={"a": 1}, tenant="x")
    assert is_plain(plain)
    given = {
        "delay": 1,
        "priority": 5,
        "queue": "q",
        "max_attempts": 1,
        "timeout": 1,
        "concurrency_key": "k",
        "labels": {},
        "expires_in": 1,
        "requires": Requirements(),
        "prefers": Traits(),
        "avoids": Traits(),
        "sticky": "k",
        "spread": 1,
        "unique": Unique(),
    }
    for name, value in given.items():
        assert not is_plain(JobRequest(task="t", **{name: value})), name
    fields = set(JobRequest.__struct_fields__) - {"task", "params", "tenant"}
    assert fields - given.keys() == {"run_at", "deadline", "expires", "retry"}
    assert check_request(plain) is plain


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"labels": 5}', '{"retry": {"first": -1}}', '{"timeout": "x"}'])
def test_stored_options_that_cannot_be_read_count_as_defaults(text):
    assert read_options(text) == JobOptions()
