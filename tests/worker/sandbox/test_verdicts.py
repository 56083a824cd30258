"""How an end is worded, and that words which were cut show no half of a secret."""

from horae.worker.sandbox.cgroups import Reading
from horae.worker.sandbox.limits import Bounds
from horae.worker.sandbox.supervisor import LAST_WORDS, Ended
from horae.worker.sandbox.verdicts import Facts, judge


def message(last_words: bytes) -> str:
    ended = Ended(status=1, order=None, breach=None, cpu=0.0, peak_memory=0, last_words=last_words)
    return judge(ended, 1, Facts(Bounds(), Reading())).error.message


def test_the_last_lines_are_the_message():
    assert message(b"one\ntwo\n") == "exit status 1: one\ntwo"


def test_a_line_whose_beginning_is_lost_is_left_out():
    cut = (b"the end of a secret" + b"." * LAST_WORDS + b"\nlast\n")[-LAST_WORDS:]
    assert message(cut) == "exit status 1: last"
    assert message(b"." * LAST_WORDS) == "exit status 1"
