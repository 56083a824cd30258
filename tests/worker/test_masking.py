"""Whatever a job writes, in whatever pieces, no form of its secrets gets through, and nothing else is touched."""

import base64
import itertools
import json
import re
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from horae.worker.disguises import disguises
from horae.worker.masking import Masker

PATIENT = settings(deadline=None)
# No asterisks: a mask beside what a job wrote may look like such a secret without being one.
letters = st.characters(exclude_characters="*", exclude_categories=["Cs"])
values = (
    st.text(alphabet='abAB01/+%\n"\\ é€', min_size=4, max_size=40)
    | st.text(alphabet="ab", min_size=4, max_size=9)
    | st.text(letters, min_size=4, max_size=200)
).filter(lambda value: len(value.strip()) >= 4)
TOKEN = 's3cr3t/Tök+en <&> "quoted"\\\nsecond line of it'


def _in_pieces(masker, text, cuts):
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return b"".join(masker.mask("stdout", text[a:b]) for a, b in itertools.pairwise(edges)) + masker.flush("stdout")


@st.composite
def texts(draw):
    """Secrets, and a text that holds forms of them, whole, in part, overlapping and beside each other."""
    secrets = draw(st.lists(values, min_size=1, max_size=3))
    forms = sorted({form for value in secrets for form in disguises(value)})
    whole = st.sampled_from(forms)
    part = st.builds(lambda form, a, b: form[a:b], whole, st.integers(0, 40), st.integers(0, 40))
    other = st.sampled_from([b"a", b" ", b"\n", b"=="])
    return secrets, b"".join(draw(st.lists(whole | part | other, max_size=8)))


@settings(PATIENT)
@given(given_=texts(), cuts=st.lists(st.integers(0, 10_000), max_size=12))
@example(given_=(["aaaa"], b"a" * 30), cuts=list(range(30)))
@example(given_=(["xxabcdyyyyyyyyyyyyyyyyyyyyyy", "abcd"], b"xxabcdyyyyyyyyyyyyyyyyyyyyyy"), cuts=[6])
def test_no_form_of_a_secret_gets_through_however_the_stream_is_cut(given_, cuts):
    secrets, text = given_
    masker = Masker({str(number): value for number, value in enumerate(secrets)})
    masked = _in_pieces(masker, text, cuts)
    assert [form for value in secrets for form in disguises(value) if form in masked] == []
    assert masked == masker.mask_bytes(text)


@settings(PATIENT)
@given(secrets=st.lists(values, max_size=3), text=st.binary(max_size=200), cuts=st.lists(st.integers(0, 200)))
def test_text_without_secrets_passes_unchanged(secrets, text, cuts):
    if any(form in text for value in secrets for form in disguises(value)):
        return
    assert _in_pieces(Masker(dict(enumerate(secrets))), text, cuts) == text


@pytest.mark.parametrize(
    "shown",
    [
        TOKEN,
        json.dumps(TOKEN),
        json.dumps(TOKEN, ensure_ascii=False),
        repr(TOKEN),
        quote(TOKEN, safe=""),
        re.sub("%..", lambda found: found[0].lower(), quote(TOKEN, safe="")),
        quote(TOKEN),
        quote_plus(TOKEN),
        "".join(f"%{byte:02x}" for byte in TOKEN.encode()),
        base64.b64encode(TOKEN.encode()).decode(),
        base64.urlsafe_b64encode(TOKEN.encode()).decode(),
    ],
)
def test_a_secret_is_masked_in_the_forms_that_programs_write(shown):
    masked = Masker({"TOKEN": TOKEN}).mask_text(f"before {shown} after")
    assert re.fullmatch("""before ["']?\\*\\*\\*["']? after""", masked)


@settings(PATIENT)
@given(value=values, ahead=st.binary(max_size=4), behind=st.binary(max_size=4))
def test_inside_longer_base64_nothing_of_a_secret_but_shared_characters_is_left(value, ahead, behind):
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(ahead + value.encode() + behind)
        masked = Masker({"V": value}).mask_bytes(encoded)
        assert b"***" in masked
        own = len(encode(value.strip().encode()).rstrip(b"="))
        assert len(masked) - 3 <= len(encoded) - own + 2


def test_each_longer_line_of_a_secret_is_masked_and_short_ones_are_not():
    masker = Masker({"KEY": "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n  indented line\nab\n"})
    assert masker.mask_text("line MIIEvQIBADANBgkq, indented line, ab") == "line ***, ***, ab"


def test_a_secret_of_very_many_lines_is_masked_line_by_line_too():
    lines = [f"line {number:05} of it" for number in range(2000)]
    masker = Masker({"FILE": "\n".join(lines)})
    text = "".join(f"<{line}> and <{number}> " for number, line in enumerate(lines))
    assert _in_pieces(masker, text.encode(), range(0, len(text), 997)).decode() == "".join(
        f"<***> and <{number}> " for number in range(2000)
    )


def test_of_two_secrets_where_one_begins_the_other_the_longer_is_masked_whole():
    masker = Masker({"A": "hunter", "B": "hunter-and-more"})
    assert masker.mask("stdout", b"hunter") == b""
    assert masker.mask("stdout", b"-and-more") == b"***"
    assert masker.mask("stdout", b" hunter-and") + masker.flush("stdout") == b" ***-and"


def test_only_what_may_begin_a_secret_is_kept_back_and_streams_are_apart():
    masker = Masker({"A": "password123"})
    assert masker.mask("stdout", b"user pass") == b"user "
    assert masker.mask("stderr", b"word123") == b"word123"
    assert masker.mask("stdout", b"port") == b"passport"
    assert masker.flush("stdout") == b""


def test_a_flood_of_one_secret_is_not_gathered_in_memory():
    masker = Masker({"A": "aaaa"})
    out = sum(len(masker.mask("stdout", b"a" * 1000)) for _ in range(100))
    assert out <= 3
    assert all(len(held) <= 4 for held, _ in masker._held.values())


def test_without_secrets_the_very_same_bytes_come_back():
    data = b"anything"
    assert Masker({}).mask("stdout", data) is data
    assert Masker({}).mask_json(data) is data


def _texts(value):
    match value:
        case str():
            yield value
        case list():
            for part in value:
                yield from _texts(part)
        case dict():
            yield from value
            yield from _texts(list(value.values()))


@settings(PATIENT, max_examples=60)
@given(
    secrets=st.lists(values, min_size=1, max_size=2),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    data=st.data(),
)
def test_masked_json_is_json_that_holds_no_secret(secrets, value, data):
    masker = Masker(dict(enumerate(secrets)))
    whole = {"value": value, "secret": data.draw(st.sampled_from(secrets)), data.draw(st.sampled_from(secrets)): 1}
    encoded = json.dumps(whole, ensure_ascii=data.draw(st.booleans())).encode()
    masked = masker.mask_json(encoded)
    decoded = msgspec.json.decode(masked)
    assert masker.mask_bytes(masked) == masked
    assert decoded == "***" or "***" in decoded["secret"]
    assert [text for text in _texts(decoded) if any(value.strip() in text for value in secrets)] == []


@pytest.mark.parametrize(
    ("result", "masked"),
    [
        ('{"pin": 12345678, "ok": true}', '{"pin":"***","ok":true}'),
        ('{"pin": "\\u0031\\u00325\\u0033"}', '{"pin": "\\u0031\\u00325\\u0033"}'),
        ('["\\u00312345678"]', '["***"]'),
        ("not json 12345678", '"***"'),
        ('{"a":  "the pin is 12345678", "b": 1e3}', '{"a":"the pin is ***","b":1000.0}'),
        ('{"ok": 1.0}', '{"ok": 1.0}'),
    ],
)
def test_json_is_masked_by_what_it_means(result, masked):
    assert Masker({"PIN": "12345678"}).mask_json(result.encode()).decode() == masked


def test_a_secret_of_the_largest_size_is_found_across_pieces():
    value = "".join(chr(33 + number * number % 90) for number in range(64 * 1024)).replace("*", "x")
    masker = Masker({"BIG": value})
    text = b"before " + base64.b64encode(value.encode()) + b" after"
    masked = b"".join(masker.mask("stdout", text[at : at + 4096]) for at in range(0, len(text), 4096))
    assert masked + masker.flush("stdout") == b"before *** after"
