"""What is told of an answer that was not expected, and that no half of a secret is among it."""

from horae.model.states import End
from horae.model.work import Finished, JobError
from horae.worker.masking import Masker
from horae.worker.redaction import redact
from horae.worker.web.outcomes import EXCERPT


async def test_a_secret_that_the_excerpt_cuts_in_two_is_masked(service, caller):
    service.says(status=500, text="." * (EXCERPT - 8) + "hunter2-and-more")
    outcome = await caller.call(service.url)
    finished = Finished(id="1", lane=1, attempt=1, end=End.ERROR, error=outcome.error)
    redact(finished, Masker({"TOKEN": "hunter2-and-more"}))
    assert finished.error.message.endswith("...***…")


def test_a_message_that_was_cut_and_says_so_is_masked_to_its_end():
    finished = Finished(id="1", lane=1, attempt=1, end=End.ERROR, error=JobError("x", "it said hunter2-…"))
    redact(finished, Masker({"TOKEN": "hunter2-and-more"}))
    assert finished.error.message == "it said ***…"
