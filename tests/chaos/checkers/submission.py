"""Between clients and the store: what was accepted is there, and nothing else is."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from chaos.case import UNASKED, Case, Violation
from chaos.history import Call, End

REFUSED_FOR_NOW: Final = {429, 503}


def lost(case: Case) -> Iterator[Violation]:
    """A job whose submit was answered with an id is there, and has ended when everything is quiet again."""
    ended = {row.job for row in case.outcomes}
    for call in case.submits:
        if call.end is End.OK and len(call.answer.get("jobs", [])) != len(call.asked["refs"]):
            asked, answered = len(call.asked["refs"]), len(call.answer.get("jobs", []))
            yield Violation("lost", f"{call.name} asked for {asked} jobs, and was answered about {answered}")
    for job, ref in accepted(case):
        if job not in case.jobs:
            yield Violation("lost", f"accepted as {ref}, and not there", job)
        elif case.jobs[job].ref != ref:
            yield Violation("lost", f"accepted as {ref}, and there as {case.jobs[job].ref}", job)
    for job in case.jobs.keys() - ended:
        tables = ", ".join(case.left.get(job, [])) or "no table at all"
        yield Violation("lost", f"has not ended: it is in {tables}", job)


def accepted(case: Case) -> Iterator[tuple[str, str]]:
    """Jobs by the word of an answer, and what they were asked for as."""
    for call in case.submits:
        for ref, job in zip(call.asked["refs"], call.answer.get("jobs", []), strict=False):
            if job is not None:
                yield job, ref


def unexpected(case: Case) -> Iterator[Violation]:
    """There is no job that nobody asked for, no two of one request, none of a refused one; and nothing else runs."""
    askers = {ref: call for call in case.submits for ref in call.asked["refs"]}
    tried = {ref for call in case.submits for ref in set(call.asked["refs"]) - refusals(call)}
    refused = askers.keys() - tried
    for job, runs in case.runs_of.items():
        if job not in case.jobs:
            yield Violation("unexpected", f"ran {len(runs)} times, and is not there", job)
    asked = [row for row in case.jobs.values() if not row.ref.startswith(UNASKED)]
    for row in asked:
        if row.ref not in askers:
            yield Violation("unexpected", f"nobody asked for {row.ref}", row.id)
        elif row.ref in refused and not case.repeated[row.ref]:  # else one may be refused and the other taken
            yield Violation("unexpected", f"{row.ref} was refused, and is there", row.id)
    for ref, times in Counter(row.ref for row in asked).items():
        call = askers.get(ref)
        sent_again = 0 if call is None or "key" in call.asked else case.repeated[ref]
        if times > 1 + sent_again:
            what = f"{ref} was asked for once, sent again {sent_again} times, and made {times} jobs"
            yield Violation("unexpected", what)


def refusals(call: Call) -> set[str]:
    refs: list[str] = call.asked["refs"]
    if call.end is End.FAILED:
        return set(refs)
    jobs = call.answer.get("jobs", [])
    return {ref for ref, job in zip(refs, jobs, strict=False) if job is None}


def idempotency(case: Case) -> Iterator[Violation]:
    """One key stands for one job, in every answer and in the store."""
    answered: dict[str, set[str]] = defaultdict(set)
    for call in case.submits:
        if "key" in call.asked and call.end is End.OK:
            answered[call.asked["key"]].update(call.answer["jobs"])
    for key, jobs in answered.items():
        if len(jobs) > 1:
            yield Violation("idempotency", f"the key {key} was answered with {len(jobs)} jobs: {sorted(jobs)}")
        elif case.keys.get(key) not in jobs:
            yield Violation("idempotency", f"the key {key} stands for {case.keys.get(key)} in the store", *jobs)


def comebacks(case: Case) -> Iterator[Violation]:
    """Who is refused for now is told in how many seconds to come back: in a header, and for each job of a bulk."""
    for call in case.submits:
        told = call.answer.get("retry_after")
        if call.answer.get("status") in REFUSED_FOR_NOW and "retry_after" in call.answer and not _is_header(told):
            yield Violation("comebacks", f"{call.name} was refused with {call.answer['status']}, Retry-After: {told}")
        elif call.end is End.OK and not all(seconds and seconds > 0 for seconds in told or []):
            yield Violation("comebacks", f"jobs of a bulk were refused without a time to come back: {told}")


def _is_header(told: str | None) -> bool:
    """Whole seconds: what RFC 9110 lets a client rely on."""
    return told is not None and told.isdecimal() and int(told) > 0
