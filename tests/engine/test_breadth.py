"""From how many lanes a claim takes: as few as fill it."""

from horae.engine.breadth import LEAST_LANES, MOST_LANES, Breadth


def test_lanes_that_give_little_are_taken_by_the_hundred():
    breadth = Breadth()
    breadth.learn(LEAST_LANES, got=300, want=1000)
    assert LEAST_LANES * 3 < breadth.lanes < LEAST_LANES * 4
    for _ in range(5):
        breadth.learn(breadth.lanes, got=breadth.lanes, want=1000)
    assert breadth.lanes == MOST_LANES


def test_filled_claims_make_do_with_ever_fewer():
    breadth = Breadth()
    breadth.learn(LEAST_LANES, got=100, want=1000)
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
