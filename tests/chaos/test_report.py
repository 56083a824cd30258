"""What a campaign says about itself."""

import msgspec
import pytest

from faults.effects import Run

from .campaign import Order
from .case import CALM, FIRE, PHASE, Violation
from .history import End
from .ledger import Ledger, read
from .page import markdown, verdict
from .report import Report, convicted, make_report, merged
from .stories import called, kept
from .summary import FAULT, Summary, broken_off, spread, summed_up


def summary(*violations: Violation, **changes: object) -> Summary:
    calls = [
        called(PHASE, at=0.0, phase=CALM),
        called(refs=["r1"], jobs=["j1"], at=1.0),
        called(PHASE, at=5.0, phase=FIRE),
        called(FAULT, at=6.0, fault="server.kill"),
        called(FAULT, at=7.0, fault="server.kill", end=End.FAILED),
        called("submit many", refs=["r2", "r3"], jobs=["j2", None], at=8.0),
        called(refs=["r4"], end=End.UNKNOWN, at=9.0),
    ]
    runs = [Run("j1", 1, 1, 2.01, 2.5, True), Run("j2", 1, 1, 8.5, 8.75, True)]
    found = summed_up(kept(calls=calls, runs=runs), 7, list(violations))
    found.drain_seconds = 1.0
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def reported(*seeds: Summary, **more: object) -> Report:
    return make_report(Order(seeds=[7], jobs=10, faults=2), list(seeds), postgres="18", commit="abc", **more)  # type: ignore[arg-type]


def test_a_summary_counts_each_job_once_by_its_best_answer():
    assert summary().jobs == {"submitted": 4, "ok": 2, "failed": 1, "unknown": 1, "unknown and there": 0}


def test_recovery_is_the_time_to_the_end_of_the_next_job_that_began_after_a_strike():
    struck = summary().faults["server.kill"]
    assert (struck.struck, struck.failed, struck.recovery and struck.recovery.most) == (1, 1, 2.75)


def test_latencies_go_by_the_phase_of_the_submit_and_leave_bulk_out():
    found = summary().latency
    assert found[CALM].p50 == pytest.approx(1.0)
    assert found.get(FIRE, spread([])).number == 0


def test_a_campaign_in_which_hardly_any_job_was_accepted_shows_nothing():
    hardly = {"submitted": 4, "ok": 1, "failed": 0, "unknown": 3, "unknown and there": 3}
    assert "only 1 jobs were accepted, and 3 not answered" in reported(summary(jobs=hardly)).unproven
    assert not reported(summary(jobs=hardly)).verdict


def test_the_verdict_is_good_only_if_nothing_was_found_and_all_was_reached_and_caught():
    wrong = Violation("lost", "gone", "j1")
    assert reported(summary()).verdict
    assert not reported(summary(wrong)).verdict
    assert not reported(summary(drain_seconds=None)).verdict
    assert not reported(summary(), failpoints=["a"]).verdict
    assert reported(summary(failpoints=["a"]), failpoints=["a"]).verdict


def test_a_fault_that_never_struck_or_no_stale_end_at_all_fails_a_full_campaign():
    assert reported(summary(stale_refused=1), faults_due=["server.kill"]).verdict
    for report in (
        reported(summary(stale_refused=1), faults_due=["server.kill", "worker.kill"]),
        reported(summary(stale_refused=0), faults_due=["server.kill"]),
    ):
        assert not report.verdict
        assert "things were not brought about" in verdict(report)
    assert "the fault worker.kill never struck" in markdown(reported(summary(), faults_due=["worker.kill"]))


def test_a_campaign_without_seeds_says_so_and_one_without_anything_has_failed():
    nothing = make_report(Order(seeds=[], jobs=10, faults=2), [], postgres="18", commit="abc")
    assert not nothing.verdict
    assert "FAILED" in verdict(nothing)
    nothing.convictions = [convicted("bug", ["lost"], [Violation("lost", "gone")])]
    assert nothing.verdict
    assert verdict(nothing) == "all planted bugs caught; no seed was run"


def test_what_one_of_two_runs_of_a_seed_or_a_bug_has_shown_does_not_vanish():
    wrong, right = reported(summary(Violation("lost", "gone", "j1"))), reported(summary())
    escaped, caught = (convicted("bug", ["lost"], found) for found in ([], [Violation("lost", "gone")]))
    for parts in ([wrong, right], [right, wrong]):
        assert not merged(parts).sound
    assert len(merged([right, right]).seeds) == 1
    for parts in ([[escaped], [caught]], [[caught], [escaped]]):
        assert not merged([reported(summary(), convictions=each) for each in parts]).sound
    assert merged([reported(summary(), convictions=[caught])] * 2).convictions == [caught]


def test_a_seed_that_breaks_off_is_entered_as_failed_and_stays_so(tmp_path):
    path = tmp_path / "report.md"
    Ledger(reported(), path).enter(broken_off(7, OSError("no space left")))
    ledger = Ledger(reported(), path)
    ledger.resume()
    assert not ledger.report.sound
    assert "the seed broke off: OSError: no space left" in path.read_text()


def test_the_report_says_why_a_fault_was_not_possible():
    found = summary()
    found.faults["server.kill"].why = "AssertionError: waited\nin vain"
    assert "- `server.kill`: AssertionError: waited in vain" in markdown(reported(found))


def test_a_campaign_that_was_broken_off_goes_on_with_what_is_left(tmp_path):
    path = tmp_path / "report.md"
    begun = reported(bugs=["bug"])
    begun.wanted = [7, 8]
    Ledger(begun, path).enter(summary(commit="first"))
    ledger = Ledger(reported(bugs=["bug"]), path)
    ledger.resume()
    assert (ledger.report.seeds_to_come, ledger.report.bugs_to_come) == ([8], ["bug"])
    assert "nothing found so far; 1 of 2 seeds and 1 planted bugs are to come" in path.read_text()
    ledger.enter(summary(seed=8, commit="second"))
    assert not ledger.report.verdict
    ledger.enter(convicted("bug", ["lost"], [Violation("lost", "gone")]))
    assert ledger.report.verdict
    assert read([path.with_suffix(".json")])[0].verdict
    assert "| first, second |" in path.read_text()


def test_what_a_part_of_a_campaign_has_found_stays_in_the_whole():
    wrong = reported(summary(Violation("lost", "gone", "j1"), seed=3, failpoints=["a"]), failpoints=["a", "b"])
    right = reported(summary(failpoints=["b"]), failpoints=["a", "b"])
    whole = merged([wrong, right])
    assert [seed.seed for seed in whole.seeds] == [3, 7]
    assert whole.unreached == []
    assert not whole.sound


def test_a_planted_bug_must_be_caught_by_one_of_its_own_checkers():
    found = summary(Violation("lost", "gone"), planted="bug")
    assert reported(found, convictions=[convicted("bug", ["ticks", "lost"], found.violations)]).verdict
    assert not reported(found, convictions=[convicted("bug", ["ticks"], found.violations)]).verdict


def test_the_report_shows_what_was_found_in_both_forms():
    report = reported(summary(Violation("lost", "gone", "j1")), not_tested={"packets.lost": "needs root"})
    text = markdown(report)
    for part in ("FAILED", "| **lost** | 1 |", "`server.kill`", "seed 7, lost: gone (job j1)", "needs root"):
        assert part in text
    assert msgspec.json.decode(msgspec.json.encode(report))["seeds"][0]["violations"] == [["lost", "gone", "j1"]]
