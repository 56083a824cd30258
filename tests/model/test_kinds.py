"""What a definition of a task that is data may say."""

from typing import Any

import msgspec
import pytest

from horae.model.errors import InvalidInput
from horae.model.httpchecks import read_statuses
from horae.model.job import JobRequest
from horae.model.kindchecks import kind_faults
from horae.model.kinds import Container, HttpCall, Kind, Script
from horae.model.matching import MisfitCode, Offer, fits, misfits, placement_of
from horae.model.placement import ANYWHERE, Placement
from horae.model.task import TaskDefinition, check_task, secret_names

SCRIPT: dict[str, Any] = {"script": {"source": "echo", "interpreter": "sh"}}
CONTAINER: dict[str, Any] = {"container": {"image": "alpine:3.20"}}
CALL: dict[str, Any] = {"http": {"url": "https://example.com/x"}}


def task(**fields: Any) -> TaskDefinition:
    return msgspec.convert({"name": "t", **fields}, TaskDefinition)


def part(kind: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A kind with some of its fields set otherwise."""
    ((name, fields),) = kind.items()
    return {name: fields | more}


@pytest.mark.parametrize(
    "fields",
    [
        SCRIPT,
        CONTAINER,
        CALL,
        {"script": {"source": "#!/usr/bin/env node\n1"}},
        part(SCRIPT, interpreter="/usr/bin/python3.11", args=["${{ params.x }}"], requirements=["requests[socks]>=2"]),
        part(
            CONTAINER, image="ghcr.io/a/b@sha256:00", command=["run", "${{ params.x }}"], workdir="/srv", pull="never"
        ),
        part(CONTAINER, image="rootfs:/srv/images/small"),
        part(CALL, url="http://example.com:8080/${{ params.id }}?a=${{ params.a }}#top", method="GET"),
        part(CALL, headers={"Authorization": "Bearer ${{ secrets.TOKEN }}"}, body={"n": ["${{ params.n }}"]}),
        part(CALL, expect=["204", "200-201"], retry_on=[], redirects=3, sign_with="KEY", callback=True),
        SCRIPT
        | {"env": {"A": "${{ secrets.B }}"}, "secrets": [{"name": "C"}, {"name": "C", "env": "D", "file": True}]},
        SCRIPT | {"limits": {"cpu": 0.5, "memory": "64MiB", "processes": 1, "open_files": 64, "disk": 10**9}},
        CONTAINER | {"network": True, "keep_results": "7d", "sink": {"parquet": "reports/daily"}},
        CALL | {"sink": {"table": "public.events", "dsn_secret": "WAREHOUSE"}},
        {"secrets": [{"name": "KEY"}]},
    ],
)
def test_what_makes_sense_is_taken(fields):
    check_task(task(**fields))


WRONG: list[tuple[dict[str, Any], str]] = [
    (SCRIPT | CALL, "http"),
    ({"script": {"source": " ", "interpreter": "sh"}}, "script.source"),
    ({"script": {"source": "echo"}}, "script.interpreter"),
    (part(SCRIPT, source="x" * (1024 * 1024 + 1)), "script.source"),
    (part(SCRIPT, source="a\x00b"), "script.source"),
    (part(SCRIPT, interpreter="../sh"), "script.interpreter"),
    (part(SCRIPT, interpreter="sh -c"), "script.interpreter"),
    (part(SCRIPT, args=["ok", "${{ secrets.KEY }}"]), "script.args[1]"),
    (part(SCRIPT, args=["x"] * 257), "script.args"),
    (part(SCRIPT, args=["x" * 30_000] * 5), "script.args"),
    (SCRIPT | {"env": {f"A{number}": "x" * 30_000 for number in range(5)}}, "env"),
    (part(SCRIPT, args=["${{ env.HOME }}"]), "script.args[0]"),
    (part(SCRIPT, requirements=["requests"]), "script.requirements"),
    (part(SCRIPT, interpreter="python", requirements=["--index-url=http://evil"]), "script.requirements[0]"),
    (part(SCRIPT, interpreter="python", requirements=["a\nb"]), "script.requirements[0]"),
    (part(CONTAINER, image="--privileged"), "container.image"),
    (part(CONTAINER, image="a b"), "container.image"),
    (part(CONTAINER, image="rootfs:/srv/../etc"), "container.image"),
    (part(CONTAINER, image="rootfs:relative"), "container.image"),
    (part(CONTAINER, pull="sometimes"), "container.pull"),
    (part(CONTAINER, workdir="srv"), "container.workdir"),
    (part(CONTAINER, command=["${{ secrets.KEY }}"]), "container.command[0]"),
    (part(CONTAINER, entrypoint=["sh", "${{ secrets.KEY }}"]), "container.entrypoint[1]"),
    (part(CALL, url="ftp://example.com"), "http.url"),
    (part(CALL, url="file:///etc/passwd"), "http.url"),
    (part(CALL, url="${{ params.url }}"), "http.url"),
    (part(CALL, url="https://user:word@example.com"), "http.url"),
    (part(CALL, url="https://example.com/a b"), "http.url"),
    (part(CALL, url="https://example.com/a/../b"), "http.url"),
    (part(CALL, url="https://example.com\\@evil.com/"), "http.url"),
    (part(CALL, method="post"), "http.method"),
    (part(CALL, headers={"a b": "c"}), "http.headers.a b"),
    (part(CALL, headers={"x": "a\r\nb: c"}), "http.headers.x"),
    (part(CALL, headers={"Host": "evil"}), "http.headers.Host"),
    (part(CALL, headers={"x": "${{ nothing }}"}), "http.headers.x"),
    (part(CALL, method="GET", body={}), "http.body"),
    (part(CALL, body={"a": ["${{ secrets }}"]}), "http.body.a[0]"),
    (part(CALL, expect=[]), "http.expect"),
    (part(CALL, expect=["2xx"]), "http.expect[0]"),
    (part(CALL, retry_on=["500", "599-500"]), "http.retry_on[1]"),
    (part(CALL, retry_on=["600"]), "http.retry_on[0]"),
    (part(CALL, redirects=21), "http.redirects"),
    (part(CALL, sign_with="a b"), "http.sign_with"),
    (part(CALL, callback_timeout="soon"), "http.callback_timeout"),
    (part(CALL, callback_timeout=0), "http.callback_timeout"),
    (CALL | {"env": {"A": "b"}}, "env"),
    (CALL | {"limits": {"cpu": 1}}, "limits"),
    (CALL | {"network": True}, "network"),
    (CALL | {"secrets": [{"name": "A"}]}, "secrets"),
    ({"env": {"A": "b"}}, "env"),
    (SCRIPT | {"env": {"1A": "b"}}, "env.1A"),
    (SCRIPT | {"env": {"A=B": "b"}}, "env.A=B"),
    (SCRIPT | {"env": {"HORAE_RESULT": "b"}}, "env.HORAE_RESULT"),
    (SCRIPT | {"env": {"A": "a\x00b"}}, "env.A"),
    (SCRIPT | {"secrets": [{"name": "a-b"}]}, "secrets[0].name"),
    (SCRIPT | {"secrets": [{"name": "A", "env": "HORAE_KEY"}]}, "secrets[0].env"),
    (SCRIPT | {"env": {"A": ""}, "secrets": [{"name": "B"}, {"name": "A"}]}, "secrets[1].env"),
    (SCRIPT | {"limits": {"cpu": 0}}, "limits.cpu"),
    (SCRIPT | {"limits": {"memory": "lots"}}, "limits.memory"),
    (SCRIPT | {"limits": {"memory": 0}}, "limits.memory"),
    (SCRIPT | {"limits": {"processes": 0}}, "limits.processes"),
    (SCRIPT | {"limits": {"open_files": -1}}, "limits.open_files"),
    (SCRIPT | {"keep_results": 0}, "keep_results"),
    (SCRIPT | {"sink": {}}, "sink"),
    (SCRIPT | {"sink": {"parquet": "a", "table": "b", "dsn_secret": "C"}}, "sink"),
    (SCRIPT | {"sink": {"parquet": "../a"}}, "sink.parquet"),
    (SCRIPT | {"sink": {"parquet": "/a"}}, "sink.parquet"),
    (SCRIPT | {"sink": {"table": "a;b", "dsn_secret": "C"}}, "sink.table"),
    (SCRIPT | {"sink": {"table": "a"}}, "sink.dsn_secret"),
    (SCRIPT | {"sink": {"parquet": "a", "dsn_secret": "C"}}, "sink.dsn_secret"),
]


@pytest.mark.parametrize(
    ("fields", "field"), WRONG, ids=[f"{number}-{field}" for number, (_, field) in enumerate(WRONG)]
)
def test_what_makes_none_is_refused_by_its_field(fields, field):
    with pytest.raises(InvalidInput) as refused:
        check_task(task(**fields))
    assert refused.value.extra["field"] == field
    assert refused.value.detail.startswith(f"{field}:")


def test_all_parts_that_are_wrong_are_found_at_once():
    wrong = task(**part(SCRIPT, source=""), env={"1": ""}, network=False, keep_results=0, sink={"parquet": "/"})
    assert [fault.extra["field"] for fault in kind_faults(wrong)] == ["script.source", "env.1", "keep_results"]


def test_the_kind_of_a_task_is_what_it_has():
    assert task().kind is Kind.FUNCTION
    assert [task(**fields).kind for fields in (SCRIPT, CONTAINER, CALL)] == [Kind.SCRIPT, Kind.CONTAINER, Kind.HTTP]


def test_the_secrets_of_a_task_are_those_it_names_anywhere_but_in_its_sink():
    call = part(CALL, url="https://example.com/${{ secrets.A }}", body=["${{ secrets.B }}"], sign_with="C")
    assert secret_names(task(**call, sink={"table": "t", "dsn_secret": "D"})) == ["A", "B", "C"]
    assert secret_names(task(**SCRIPT, env={"X": "${{ secrets.F }}"}, secrets=[{"name": "E"}])) == ["E", "F"]
    assert secret_names(task()) == []


def test_statuses_are_one_or_a_range():
    assert list(read_statuses("204")) == [204]
    assert list(read_statuses("200-202")) == [200, 201, 202]


def test_definitions_come_back_from_json_as_they_were():
    for kind in (
        {"script": Script(source="x", interpreter="sh")},
        {"container": Container(image="a", entrypoint=[])},
        {"http": HttpCall(url="https://a.b", body=None)},
        {"http": HttpCall(url="https://a.b")},
    ):
        whole = TaskDefinition(name="t", **kind)
        assert msgspec.json.decode(msgspec.json.encode(whole), type=TaskDefinition) == whole


def test_a_worker_that_does_not_offer_the_kind_does_not_fit_and_is_told_so():
    placement = placement_of(JobRequest(task="t"), task(**SCRIPT))
    assert placement == Placement(runner="script")
    without, within = Offer(worker_id=1, kinds=frozenset({"http"})), Offer(worker_id=2, kinds=frozenset({"script"}))
    assert (fits(placement, without), fits(placement, within)) == (False, True)
    (lack,) = misfits(placement, without)
    assert (lack.code, "its kinds are: http" in lack.words) == (MisfitCode.NO_SUCH_RUNNER, True)
    assert misfits(placement, within) == []


def test_a_function_without_wishes_runs_anywhere():
    assert placement_of(JobRequest(task="t"), task()) is ANYWHERE
