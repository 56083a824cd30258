"""What a definition of an HTTP call may say."""

import re
from typing import Final, NoReturn

import msgspec

from horae.model.durations import parse_duration
from horae.model.errors import InvalidInput
from horae.model.kinds import HttpCall
from horae.model.template import Reference, check_no_dots, is_secret_name, parse

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BODILESS: Final = ("GET", "HEAD")
MAX_URL: Final = 8000
MAX_HEADERS: Final = 64
MAX_HEADER: Final = 8 * 1024
MAX_BODY_BYTES: Final = 1024 * 1024
MAX_REDIRECTS: Final = 20
RESERVED: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "horae-callback",
     "webhook-id", "webhook-timestamp", "webhook-signature"}
)  # fmt: skip
_URL: Final = re.compile(r"https?://[^\s/?#\\@]+(?:[/?#][^\s\\\x00-\x1f\x7f]*)?", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_LINE: Final = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_STATUSES: Final = re.compile(r"([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?", re.ASCII)


def check_http(call: HttpCall) -> None:
    _check_url(call.url)
    if call.method not in METHODS:
        _refuse("http.method", f"{call.method[:40]!r} is none of {', '.join(METHODS)}")
    _check_headers(call.headers)
    _check_body(call)
    if not call.expect:
        _refuse("http.expect", "name at least one status that means success")
    for name, texts in (("expect", call.expect), ("retry_on", call.retry_on)):
        for number, text in enumerate(texts):
            read_statuses(text, f"http.{name}[{number}]")
    if not 0 <= call.redirects <= MAX_REDIRECTS:
        _refuse("http.redirects", f"{call.redirects} is outside 0…{MAX_REDIRECTS}")
    if call.sign_with is not None and not is_secret_name(call.sign_with):
        _refuse("http.sign_with", f"{call.sign_with[:80]!r} is not the name of a secret: letters, digits and _")
    if not parse_duration(call.callback_timeout, "http.callback_timeout"):
        _refuse("http.callback_timeout", "must be more than 0")


def read_statuses(text: str, field: str = "statuses") -> range:
    """The statuses that "204" or "200-299" stands for."""
    found = _STATUSES.fullmatch(text)
    if found is None or int(found[1]) > int(found[2] or found[1]):
        _refuse(field, f"{text[:40]!r} is neither a status such as 204 nor a range such as 200-299")
    return range(int(found[1]), int(found[2] or found[1]) + 1)


def _check_url(url: str) -> None:
    if len(url) > MAX_URL:
        _refuse("http.url", f"{len(url)} characters are more than {MAX_URL}")
    # A value is percent-encoded when it is filled in: for the shape of the address it is as good as a letter.
    shape = "".join("x" if isinstance(part, Reference) else part for part in parse(url, "http.url"))
    if _URL.fullmatch(shape) is None:
        _refuse("http.url", f"{url[:80]!r} is not an address such as https://example.com/path, without a user")
    check_no_dots(shape, "http.url")


def _check_headers(headers: dict[str, str]) -> None:
    if len(headers) > MAX_HEADERS:
        _refuse("http.headers", f"{len(headers)} are more than {MAX_HEADERS}")
    for name, value in headers.items():
        field = f"http.headers.{name[:80]}"
        if _TOKEN.fullmatch(name) is None:
            _refuse(field, "not the name of a header")
        if name.lower() in RESERVED:
            _refuse(field, "this header is set by Horae")
        if len(value) > MAX_HEADER or _LINE.fullmatch(value) is None:
            _refuse(field, f"at most {MAX_HEADER} characters in one line")


def _check_body(call: HttpCall) -> None:
    if call.body is msgspec.UNSET:
        return
    if call.method in BODILESS:
        _refuse("http.body", f"a {call.method} has no body")
    size = len(msgspec.json.encode(call.body))
    if size > MAX_BODY_BYTES:
        _refuse("http.body", f"{size} bytes are more than {MAX_BODY_BYTES}")


def _refuse(field: str, what: str) -> NoReturn:
    raise InvalidInput(f"{field}: {what}", field=field)
