"""The pure parts of the race (bench/peers): its order, its statistics, its tables, and what it makes of a kill."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from race import page
from race.catalogue import PEERS, Runtime
from race.environments import DRIVERS, HERE, version
from race.plan import Visit, due_in, visits
from race.recovery import recovery
from race.results import Sample, append, failures, read, results
from race.traces import Note, read_count, read_notes

names = st.lists(st.text("abc", min_size=1), unique=True, min_size=1, max_size=6)


@given(names, st.integers(1, 5))
def test_every_round_visits_every_peer_once(peers, rounds):
    plan = list(visits(peers, rounds))
    for number in range(1, rounds + 1):
        assert sorted(visit.peer for visit in plan if visit.round == number) == sorted(peers)
    assert [visit.round for visit in plan] == sorted(visit.round for visit in plan)


@given(names)
def test_in_as_many_rounds_as_peers_everyone_begins_once(peers):
    plan = list(visits(peers, len(peers)))
    assert sorted(visit.peer for visit in plan[:: len(peers)]) == sorted(peers)


def test_long_workloads_are_run_in_the_first_round_only():
    workloads = ["drain", "million", "kill"]
    assert due_in(Visit(1, "a"), workloads, ["million", "kill"]) == workloads
    assert due_in(Visit(2, "a"), workloads, ["million", "kill"]) == ["drain"]


def test_a_result_is_the_median_of_its_samples_with_their_spread(tmp_path):
    file = tmp_path / "race.jsonl"
    append(file, [Sample("horae", number, "drain", value) for number, value in enumerate([30.0, 10.0, 20.0], 1)])
    append(file, [Sample("rq", 1, "drain", 5.0)])
    found = results(read([file]))
    assert found["horae", "drain"] == (20.0, 10.0, 30.0, 3)
    assert found["rq", "drain"] == (5.0, 5.0, 5.0, 1)


def test_a_table_marks_the_best_and_says_what_is_missing():
    found = results(
        [Sample("horae", 1, "drain", 900.0), Sample("rq", 1, "drain", 40.0), Sample("rq", 1, "drain cpu", 7.5)]
    )
    rows = page.table(found, page.RATES[2:4]).splitlines()
    assert rows[2:] == ["| Horae | **900** | – |", "| RQ | 40 | 7.5 |"]


def test_what_could_not_be_measured_is_on_the_page_with_its_reason(tmp_path):
    file = tmp_path / "race.jsonl"
    append(file, [Sample("horae", 1, "drain", 900.0), Sample("rq", 2, "due", why="it did not start:\nno | such file")])
    samples = read([file])
    assert [(one.peer, one.figure) for one in failures(samples)] == [("rq", "due")]
    assert ("rq", "due") not in results(samples)
    text = page.rendered(results(samples), failures(samples))
    assert "| RQ | 2 | due | it did not start: … no / such file |" in text
    assert "could not be measured" not in page.rendered(results(samples))


def test_where_less_is_better_the_least_is_marked():
    found = results(
        [Sample("horae", 1, "due last", 30.0), Sample("horae", 2, "due last", 50.0), Sample("rq", 1, "due last", 99)]
    )
    rows = page.table(found, [column for column in page.TIMES if column.figure == "due last"]).splitlines()
    assert rows[2:] == ["| Horae | **40** (30 – 50) |", "| RQ | 99 |"]


def test_what_is_neither_better_nor_worse_has_no_best():
    found = results([Sample("horae", 1, "waiting 1m", 1e6), Sample("rq", 1, "waiting 1m", 6e4)])
    rows = page.table(found, [column for column in page.RATES if column.figure == "waiting 1m"]).splitlines()
    assert rows[2:] == ["| Horae | 1,000,000 |", "| RQ | 60,000 |"]


def test_only_what_stands_between_the_markers_is_exchanged():
    text = f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n"
    assert page.placed(text, "new") == f"before\n{page.BEGIN}\nnew\n{page.END}\nafter\n"
    with pytest.raises(ValueError, match="no section"):
        page.placed("without markers", "new")


def test_a_picture_is_drawn_of_what_was_measured(tmp_path):
    page.draw(results([Sample("horae", 1, "drain", 9.0), Sample("rq", 1, "drain", 4.0)]), tmp_path / "race.svg")
    assert "<svg" in (tmp_path / "race.svg").read_text()


def test_jobs_interrupted_by_a_kill_are_followed_to_their_end():
    notes = [
        Note("start", 1, 10), Note("end", 1, 20),
        Note("start", 2, 15), Note("start", 3, 16),
        # Here all are killed, at 30; at 2,000,000,000 they are back.
        Note("start", 3, 3_000_000_000), Note("end", 3, 3_500_000_000),
        Note("start", 1, 4_000_000_000), Note("end", 1, 4_100_000_000),
    ]  # fmt: skip
    found = recovery(4, notes, killed=30, restarted=2_000_000_000)
    assert found.interrupted == 2
    assert found.unfinished == 2
    assert found.doubled == 1
    assert found.first == 1.0
    assert found.last is None


def test_recovery_lasts_until_the_last_interrupted_job_has_ended():
    notes = [Note("start", 1, 10), Note("start", 1, 3_000_000_000), Note("end", 1, 5_000_000_000)]
    assert recovery(1, notes, killed=30, restarted=2_000_000_000).last == 3.0


def test_traces_of_all_processes_are_added_and_cut_lines_left_out(tmp_path):
    (tmp_path / "count-1").write_text("3 10 30\n")
    (tmp_path / "count-2").write_text("4 5 20\n")
    (tmp_path / "count-3").write_text("")
    (tmp_path / "journal-1").write_text("start 1 7\nend 1 9\nsta")
    (tmp_path / "journal-2").write_text("start 2 8\n")
    assert read_count(tmp_path) == (7, 5, 30)
    assert read_notes(tmp_path) == [Note("start", 1, 7), Note("start", 2, 8), Note("end", 1, 9)]


def test_every_peer_has_its_driver_and_its_pinned_versions():
    for peer in PEERS.values():
        ending = "mjs" if peer.runtime is Runtime.NODE else "py"
        assert (DRIVERS / f"{peer.driver}_peer.{ending}").exists()
        if peer.runtime is Runtime.PYTHON:
            lines = (HERE / "requirements" / f"{peer.driver}.txt").read_text().splitlines()
            assert all("==" in line for line in lines)
        assert version(peer)[0].isdigit()


def test_the_lock_file_names_no_registry():
    assert "resolved" not in (DRIVERS / "package-lock.json").read_text()
