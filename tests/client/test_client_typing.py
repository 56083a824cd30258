"""What a type checker says about the users' view: right uses pass, wrong ones are errors."""

from pathlib import Path

import pytest
from mypy import api

PROGRAM = """
from horae import App, Context

app = App()

@app.task(queue="mail")
def last(to: str, subject: str, ctx: Context) -> str: ...

@app.task
def first(ctx: Context, to: str, subject: str = "") -> int: ...

@app.task(timeout=3)
async def coroutine(to: str) -> int: ...

text: str = last.submit("a", subject="b").result()
number: int = first.submit("a", subject="b", _at="2026-11-20T10:00Z").result()
first.options(delay="10s").submit("a")
first.submit_in(object(), "a")
first.submit_many([("a",), {"to": "b"}], _priority=3)

async def main() -> int:
    await coroutine("a")
    job = await coroutine.asubmit("a")
    return await job.result()
"""

WRONG = ["first.submit(1)", "first.submit()", "first.submit('a', _at=3)", "first.submit('a', _unknown=3)",
         "first.options(at=3)", "first.options(at='x').submit(1)", "first.submit_in(object(), 1)",
         "app.task(colour='red')", "text = first.submit('a').result()"]  # fmt: skip


@pytest.mark.timeout(600)
def test_right_uses_pass_and_each_wrong_one_is_an_error(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + "\n" + "\n".join(WRONG) + "\n")
    said, failed, _ = api.run(["--disable-error-code=empty-body", "--cache-dir", str(tmp_path), str(program)])
    first_wrong = PROGRAM.count("\n") + 2
    lines = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
    assert not failed
    assert lines == set(range(first_wrong, first_wrong + len(WRONG))), said
