"""The program of an examiner: reads questions about schemas, answers them, and ends when nobody asks any more.

For each question it has the seconds that come with it. The kernel ends it when they are over, whatever it is doing
then, and whether or not the server is still there; so does it when the memory is used up.
"""

import functools
import resource
import signal
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO, Final

import jsonschema_rs
import msgspec

MAX_ERRORS: Final = 10
_MOST_MEMORY: Final = 2**30
_LENGTH: Final = 4


class Question(msgspec.Struct, frozen=True, array_like=True):
    seconds: float
    schema: str
    params: str | None = None
    """Both are JSON. None: is it a schema at all?"""


class Answer(msgspec.Struct, frozen=True, array_like=True):
    wrong: str | None = None
    """With the schema."""
    faults: list[dict[str, str]] = []
    """Of the params."""


def list_faults(validator: Any, params: Mapping[str, Any]) -> list[dict[str, str]]:
    faults = []
    for error in validator.iter_errors(params):
        path = "".join(f"/{part}" for part in error.instance_path)
        faults.append({"pointer": f"/params{path}", "detail": error.message[:300]})
        if len(faults) >= MAX_ERRORS:
            break
    return faults


def refuse_reference(uri: str) -> Any:
    """A schema must not make the server fetch anything."""
    raise ValueError(f"references to other documents are not followed: {uri[:200]}")


def answer(question: Question) -> Answer:
    try:
        validator = _validator(question.schema)
    except (ValueError, jsonschema_rs.ValidationError) as error:
        return Answer(wrong=f"not a JSON Schema: {str(error)[:300]}")
    if question.params is None:
        return Answer()
    params = msgspec.json.decode(question.params)
    try:
        return Answer(faults=[] if validator.is_valid(params) else list_faults(validator, params))
    except ValueError as error:
        return Answer(faults=[{"pointer": "/params", "detail": f"cannot be checked: {str(error)[:300]}"}])


@functools.lru_cache(maxsize=16)
def _validator(schema: str) -> Any:
    return jsonschema_rs.validator_for(msgspec.json.decode(schema), retriever=refuse_reference)


def frame(message: msgspec.Struct) -> bytes:
    data = msgspec.json.encode(message)
    return len(data).to_bytes(_LENGTH, "big") + data


def main() -> None:
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = _MOST_MEMORY if hard == resource.RLIM_INFINITY else min(_MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the server ends us when it has ended its own work
    decoder = msgspec.json.Decoder(Question)
    while data := _read(sys.stdin.buffer):
        question = decoder.decode(data)
        signal.setitimer(signal.ITIMER_REAL, question.seconds)
        said = frame(answer(question))
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.buffer.write(said)
        sys.stdout.buffer.flush()


def _read(stream: BinaryIO) -> bytes:
    length = int.from_bytes(stream.read(_LENGTH), "big")
    return stream.read(length)


if __name__ == "__main__":
    main()
