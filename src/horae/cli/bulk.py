"""`horae submit --bulk`: a stream of jobs, sent in batches with a progress bar.

A line that is no job is refused like one that the server refuses: said with its number, while the others go on.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from horae.cli.access import Access
from horae.cli.failure import ERROR
from horae.cli.screen import console, note, print_lines
from horae.wire.jobs import BulkAnswer, BulkItem, JobRequest

if TYPE_CHECKING:
    from horae.client.client import Client

BATCH: Final = 1000
BATCH_BYTES: Final = 4 * 1024 * 1024
SHOWN_REFUSALS: Final = 20

Line = tuple[int, bytes]


class Tally:
    def __init__(self, *, as_json: bool) -> None:
        self.accepted = 0
        self.refused = 0
        self._as_json = as_json

    def count(self, numbers: list[int], answer: BulkAnswer) -> None:
        self.accepted += answer.accepted
        self.refused += answer.refused
        if self._as_json:
            print_lines(answer.items)
            return
        for number, item in zip(numbers, answer.items, strict=True):
            if item.id is not None:
                print(item.id)
            elif item.detail is not None:
                self._say(number, item)

    def refuse(self, number: int, why: str) -> None:
        self.refused += 1
        item = BulkItem(code="malformed_body", detail=why)
        print_lines([item]) if self._as_json else self._say(number, item)

    def _say(self, number: int, item: BulkItem) -> None:
        if self.refused <= SHOWN_REFUSALS:
            note(f"line {number}: {item.detail}")


def submit_file(name: str, access: Access) -> int:
    tally = Tally(as_json=access.json)
    with access.client() as client, _opened(name) as (source, total), _bar(total) as bar:
        shown = bar.add_task("submitting", total=total, jobs=0)
        for lines in batches(source):
            _send(client, lines, tally)
            sent = sum(len(line) for _, line in lines)
            bar.update(shown, advance=sent, jobs=tally.accepted)
    note(f"{tally.accepted} accepted, {tally.refused} refused")
    return ERROR if tally.refused else 0


@contextmanager
def _opened(name: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """The stream, and its size where that is known."""
    if name == "-":
        yield sys.stdin.buffer, None
        return
    with Path(name).expanduser().open("rb") as file:
        yield file, Path(file.name).stat().st_size or None


def _bar(total: int | None) -> Progress:
    columns: list[ProgressColumn] = [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[jobs]} jobs"),
    ]
    if total is not None:
        columns += [BarColumn(), TextColumn("{task.percentage:>3.0f} %")]
    # On stderr, and only where somebody looks: stdout carries the ids.
    screen = console(sys.stderr)
    return Progress(*columns, TimeElapsedColumn(), console=screen, transient=True, disable=not screen.is_terminal)


def batches(source: Iterable[bytes]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    held = 0
    for number, line in enumerate(source, start=1):
        if batch and (len(batch) == BATCH or held + len(line) > BATCH_BYTES):
            yield batch
            batch, held = [], 0
        batch.append((number, line))
        held += len(line)
    if batch:
        yield batch


def _send(client: "Client", lines: list[Line], tally: Tally) -> None:
    numbers, requests = [], []
    for number, line in lines:
        if not line.strip():
            continue
        try:
            requests.append(msgspec.json.decode(line, type=JobRequest))
            numbers.append(number)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            tally.refuse(number, f"not a job: {error}")
    if requests:
        tally.count(numbers, client.submit_many(requests))
