"""What an agent makes of an answer that is an error."""

import pytest

from horae.model.errors import HoraeError, InvalidInput, QuotaExceeded, RepeatedExchange, StoreUnavailable, WrongState
from horae.worker.link import is_refusal


@pytest.mark.parametrize("error", [InvalidInput("not UTF-8"), WrongState("has ended")])
def test_what_would_be_refused_again_is_not_sent_again(error: HoraeError):
    assert is_refusal(error)


@pytest.mark.parametrize("error", [StoreUnavailable("away"), QuotaExceeded("later"), RepeatedExchange("came twice")])
def test_what_may_do_another_time_is_sent_again(error: HoraeError):
    assert not is_refusal(error)
