from hypothesis import given
from hypothesis import strategies as st

from horae.engine.charges import Charges


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 10)), min_size=1), st.lists(st.integers(1, 50)))
def test_what_was_charged_comes_back_once(claims: list[tuple[int, float]], ends: list[int]):
    charges = Charges()
    for jobs, seconds in claims:
        charges.note(7, jobs, seconds)
    settled = [charges.settle(7, jobs) for jobs in [*ends, 10_000]]
    assert sum(jobs for jobs, _ in settled) == sum(jobs for jobs, _ in claims)
    assert abs(sum(seconds for _, seconds in settled) - sum(seconds for _, seconds in claims)) < 1e-6


def test_jobs_of_other_servers_were_not_charged_here():
    charges = Charges()
    charges.note(7, 2, 1.0)
    assert charges.settle(7, 5) == (2, 1.0)
    assert charges.settle(7, 5) == (0, 0.0)
    assert charges.settle(8, 1) == (0, 0.0)
