"""From how many lanes a claim takes: as few as nearly fill it."""

from horae.engine.breadth import LEAST_LANES, MOST_LANES, Breadth, nearly_filled


def test_lanes_that_give_little_are_taken_by_the_hundred():
    breadth = Breadth()
    breadth.learn(LEAST_LANES, got=300, want=1000)
    assert LEAST_LANES * 3 < breadth.lanes < LEAST_LANES * 4
    for _ in range(5):
        breadth.learn(breadth.lanes, got=breadth.lanes, want=1000)
    assert breadth.lanes == MOST_LANES


def test_filled_claims_make_do_with_ever_fewer():
    breadth = Breadth()
    breadth.learn(LEAST_LANES, got=250, want=1000)
    seen = [breadth.lanes]
    while breadth.lanes > LEAST_LANES:
        breadth.learn(breadth.lanes, got=1000, want=1000)
        seen.append(breadth.lanes)
    assert seen == sorted(seen, reverse=True)
    assert len(seen) < 50


def test_that_there_were_no_more_lanes_says_nothing():
    breadth = Breadth()
    breadth.learn(3, got=5, want=1000)
    breadth.learn(LEAST_LANES, got=0, want=1000)
    assert breadth.lanes == LEAST_LANES


def test_a_claim_that_is_nearly_filled_changes_nothing():
    breadth = Breadth()
    breadth.learn(LEAST_LANES, got=500, want=1000)
    before = breadth.lanes
    breadth.learn(before, got=900, want=1000)
    assert breadth.lanes == before


def test_a_claim_that_needed_fewer_lanes_says_nothing_of_larger_ones():
    breadth = Breadth()
    breadth.learn(LEAST_LANES, got=500, want=1000)
    before = breadth.lanes
    breadth.learn(10, got=10, want=10)
    assert breadth.lanes == before


def test_a_few_jobs_are_never_nearly_enough():
    assert not any(nearly_filled(want - 1, want) for want in range(1, 8))
    assert nearly_filled(900, 1000)
    assert not nearly_filled(874, 1000)
