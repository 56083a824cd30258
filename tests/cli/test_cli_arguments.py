import io
from datetime import timedelta
from pathlib import Path

import pytest

from horae.cli.arguments import JobArguments, read_ids, read_instant, read_pairs, read_params
from horae.model.errors import InvalidInput
from horae.model.placement import Requirements, Traits
from horae.model.unique import OnConflict, Unique


def test_a_parameter_is_json_where_it_can_be_and_text_elsewhere() -> None:
    given = ["n=3", "name=john", "id=007", 'quoted="3"', "list=[1,2]", "formula=a=b", "empty="]
    assert read_params(given, None) == {
        "n": 3, "name": "john", "id": "007", "quoted": "3", "list": [1, 2], "formula": "a=b", "empty": "",
    }  # fmt: skip


def test_single_parameters_go_over_those_of_the_document(tmp_path: Path) -> None:
    file = tmp_path / "params.json"
    file.write_text('{"a": 1, "b": 2}')
    assert read_params(["b=3"], f"@{file}") == {"a": 1, "b": 3}


def test_parameters_can_come_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"a": 1}'))
    assert read_params([], "-") == {"a": 1}


@pytest.mark.parametrize("document", ["[1]", "{", "3"])
def test_a_document_that_is_no_object_is_refused(document: str) -> None:
    with pytest.raises(InvalidInput, match="--json-params"):
        read_params([], document)


def test_a_pair_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="--label: '=x'"):
        read_pairs(["=x"], "label")


def test_an_instant_needs_an_offset() -> None:
    instant = read_instant("2026-11-20T10:00+01:00", "at")
    assert instant is not None
    assert instant.utcoffset() == timedelta(hours=1)
    for wrong in ("2026-11-20T10:00", "tomorrow"):
        with pytest.raises(InvalidInput):
            read_instant(wrong, "at")


def test_only_what_is_given_changes() -> None:
    changes = JobArguments(priority=8, label=["team=a"]).changes()
    assert (changes.priority, changes.labels, changes.params, changes.queue) == (8, {"team": "a"}, None, None)


def test_ids_come_from_stdin_with_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("b\nc d\n"))
    assert read_ids(["a", "-"]) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("ids", [[], ["--resaon"]])
def test_no_id_or_a_misspelt_option_is_a_usage_error(ids: list[str]) -> None:
    with pytest.raises(InvalidInput):
        read_ids(ids)


def test_wishes_are_fields_where_there_is_one_and_labels_elsewhere() -> None:
    given = ["gpu=1", "memory=2GiB", "slots=2", "region=eu", "os=linux"]
    request = JobArguments(requires=given, prefers=["zone=a"], avoids=["tier=old"], sticky="me", spread=2).request(
        "t", None
    )
    assert request.requires == Requirements(gpu=1.0, memory="2GiB", slots=2, region="eu", labels={"os": "linux"})
    assert (request.prefers, request.avoids) == (Traits(zone="a"), Traits(labels={"tier": "old"}))
    assert (request.sticky, request.spread) == ("me", 2)


@pytest.mark.parametrize("wish", ["slots=many", "slots=0", "memory=lots", "gpu", "cpu=-1"])
def test_a_wish_that_makes_no_sense_costs_no_round_trip(wish: str) -> None:
    with pytest.raises(InvalidInput, match="requires"):
        JobArguments(requires=[wish]).request("t", None)


def test_uniqueness_is_said_at_submit_only() -> None:
    given = JobArguments(unique_by=["customer"], unique_period="1h", on_conflict=OnConflict.DEBOUNCE)
    unique = given.request("t", None).unique
    assert unique == Unique(by=["customer"], period="1h", on_conflict=OnConflict.DEBOUNCE)
    assert JobArguments(unique=True).request("t", None).unique == Unique()
    assert JobArguments().request("t", None).unique is None
    with pytest.raises(InvalidInput, match="unique"):
        given.changes()
