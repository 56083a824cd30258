"""Signatures as Standard Webhooks has them."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae import webhooks
from horae.model.errors import InvalidInput, InvalidSignature
from horae.model.webhooks import check_signature, sign

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(b"another secret of some length").decode()
keys = st.binary(min_size=16, max_size=64).map(lambda key: "whsec_" + base64.b64encode(key).decode())


def headers(signature: str, message_id: str = "msg", timestamp: int = 1000) -> dict[str, str]:
    return {"Webhook-Id": message_id, "webhook-timestamp": str(timestamp), "WEBHOOK-SIGNATURE": signature}


def test_the_signature_is_that_of_the_standard():
    """The worked example of the specification."""
    body = b'{"test": 2432232314}'
    made = sign(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@given(keys, st.binary(), st.integers(0, 10**10))
def test_what_is_signed_is_accepted(secret, body, timestamp):
    signed = headers(sign(secret, "msg", timestamp, body), timestamp=timestamp)
    assert check_signature(body, signed, secret, timestamp) == "msg"


@given(keys, keys, st.binary(), st.binary())
def test_anything_changed_is_refused(secret, other, body, changed):
    signed = headers(sign(secret, "msg", 1000, body))
    if body != changed:
        with pytest.raises(InvalidSignature):
            check_signature(changed, signed, secret, 1000)
    if secret != other:
        with pytest.raises(InvalidSignature):
            check_signature(body, signed, other, 1000)
    for name, value in (("Webhook-Id", "msh"), ("webhook-timestamp", "1001")):
        with pytest.raises(InvalidSignature):
            check_signature(body, signed | {name: value}, secret, 1000)


@pytest.mark.parametrize("now", [1000 - 301, 1000 + 301])
def test_an_old_call_is_not_accepted_again(now):
    signed = headers(sign(SECRET, "msg", 1000, b"x"))
    with pytest.raises(InvalidSignature, match="replayed"):
        check_signature(b"x", signed, SECRET, now)
    assert check_signature(b"x", signed, SECRET, now, tolerance=400) == "msg"


def test_secrets_can_be_rotated_from_either_side():
    signed = headers(sign(f"{OTHER} {SECRET}", "msg", 1000, b"x"))
    assert check_signature(b"x", signed, SECRET, 1000) == "msg"
    assert check_signature(b"x", headers(sign(SECRET, "msg", 1000, b"x")), f"{OTHER} {SECRET}", 1000) == "msg"


@pytest.mark.parametrize("missing", ["Webhook-Id", "webhook-timestamp", "WEBHOOK-SIGNATURE"])
def test_a_call_without_a_signature_is_refused(missing):
    signed = headers(sign(SECRET, "msg", 1000, b"x"))
    del signed[missing]
    with pytest.raises(InvalidSignature, match="not signed"):
        check_signature(b"x", signed, SECRET, 1000)


@pytest.mark.parametrize(
    "signature", ["v1,", "v2,abc", "v1", "g0hM9SsE", "v1,ü", "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJ"]
)
def test_strange_signatures_are_refused(signature):
    with pytest.raises(InvalidSignature):
        check_signature(b"x", headers(signature), SECRET, 1000)


@pytest.mark.parametrize("timestamp", ["", "1e3", "-1", "١٢", "9" * 30, "1000.0"])
def test_strange_times_are_refused(timestamp):
    signed = headers(sign(SECRET, "msg", 1000, b"x")) | {"webhook-timestamp": timestamp}
    with pytest.raises(InvalidSignature):
        check_signature(b"x", signed, SECRET, 1000)


@pytest.mark.parametrize("secret", ["", "plain", "whsec_", "whsec_%%%", "whsec_c2hvcnQ=", "WHSEC_" + SECRET[6:]])
def test_a_secret_that_is_none_is_named_as_such(secret):
    with pytest.raises(InvalidInput, match="secret"):
        sign(secret, "msg", 1000, b"x")


def test_a_receiver_verifies_by_its_own_clock():
    import time

    signed = headers(sign(SECRET, "msg", int(time.time()), b"x"), timestamp=int(time.time()))
    assert webhooks.verify("x", signed, SECRET) == "msg"
    with pytest.raises(InvalidSignature):
        webhooks.verify(b"x", headers(sign(SECRET, "msg", 1000, b"x")), SECRET)
