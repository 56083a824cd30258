"""Tasks in files: YAML that comes back as it was, and nothing that a stranger's file could do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.errors import InvalidInput
from horae.model.kinds import Script
from horae.model.task import TaskDefinition
from horae.wire.taskfiles import read_task, read_tasks, read_yaml, write_task, write_tasks

texts = st.text(st.characters(blacklist_categories=["Cs"])) | st.sampled_from(
    [
        "no",
        "2026-11-16",
        "0x10",
        "1e3",
        "~",
        "a: b",
        "# x",
        " lead",
        "trail ",
        "tab\tand\nlines\n",
        "\r\n",
        "- a",
        "a\x85b",
    ]
)
tasks = st.builds(
    lambda source, args, description: TaskDefinition(
        name="t", script=Script(source=source, interpreter="sh", args=args), description=description
    ),
    texts,
    st.lists(texts, max_size=3),
    st.none() | texts,
)


@given(st.lists(tasks, max_size=3))
def test_what_is_written_is_read_as_it_was(definitions):
    assert [read_task(item) for item in read_tasks(write_tasks(definitions))] == definitions


def test_a_script_is_written_as_lines_that_people_can_read():
    text = write_task(TaskDefinition(name="t", script=Script(source="echo 1\necho 2\n", interpreter="sh")))
    assert text == "name: t\nscript:\n  source: |\n    echo 1\n    echo 2\n  interpreter: sh\n"


@pytest.mark.parametrize(
    "text",
    [
        "name: a\nqueue: q",
        "- name: a\n  queue: q",
        "tasks:\n- name: a\n  queue: q",
        '{"tasks": [{"name": "a", "queue": "q"}]}',
    ],
)
def test_one_task_a_list_and_a_list_under_tasks_are_read_alike(text):
    assert [read_task(item) for item in read_tasks(text)] == [TaskDefinition(name="a", queue="q")]


def test_dates_of_yaml_become_the_text_that_json_would_have():
    (item,) = read_tasks("name: t\nhttp: {url: https://a.b, body: {when: 2026-11-16, 7: x}}")
    assert read_task(item).http.body == {"when": "2026-11-16", "7": "x"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "not YAML"),
        ("a: &x [1]\nb: [*x, *x]", "aliases"),
        ("just words", "no tasks"),
        ("tasks: 7", "no tasks"),
        ("tasks: []\nother: 1", "'other' beside tasks"),
        ("a: !!python/object/apply:os.system ['true']", "not YAML"),
        ("[" * 50_000, "not YAML"),
        ("- a\n" * 300_000, "not YAML"),
        ('name: "\\ud800"', "not YAML|not a task"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused(text, words):
    with pytest.raises(InvalidInput, match=words):
        read_tasks(text)


def test_a_bomb_of_aliases_is_refused_before_it_goes_off():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(InvalidInput, match="aliases"):
        read_yaml("\n".join(lines))


def test_what_is_wrong_with_a_task_is_named_with_its_place():
    with pytest.raises(InvalidInput, match=r"unknown field `sorce` - at `\$\.script`"):
        read_task({"name": "t", "script": {"sorce": "x"}})


def test_what_looks_like_a_number_to_the_base_60_is_text():
    long = ":".join(["59"] * 200_000)
    assert read_yaml(f"a: 22:30\nb: 1:30.5\nc: {long}\nd: {long}.5\ne: 7\nf: 1.5") == {
        "a": "22:30", "b": "1:30.5", "c": long, "d": f"{long}.5", "e": 7, "f": 1.5
    }  # fmt: skip


def test_text_that_utf8_cannot_write_is_no_task():
    with pytest.raises(InvalidInput, match="not a task"):
        read_task({"name": "t", "script": {"source": "x", "interpreter": "sh", "\ud800": "x"}})
