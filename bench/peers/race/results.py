"""What was measured: a sample is one figure of one visit, a result the median of its samples with their spread."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from horae.bench.figures import rounded


class Sample(msgspec.Struct, frozen=True):
    """One line of the file that `--json` names."""

    peer: str
    round: int
    figure: str
    value: float = 0.0
    why: str = ""
    """A figure that could not be measured has a reason instead of a value."""


class Result(NamedTuple):
    median: float
    low: float
    high: float
    rounds: int


Results = Mapping[tuple[str, str], Result]


def results(samples: Iterable[Sample]) -> dict[tuple[str, str], Result]:
    """By peer and figure."""
    found: dict[tuple[str, str], list[float]] = {}
    for sample in measured(samples):
        found.setdefault((sample.peer, sample.figure), []).append(sample.value)
    return {key: summary(values) for key, values in found.items()}


def measured(samples: Iterable[Sample]) -> list[Sample]:
    return [sample for sample in samples if not sample.why]


def failures(samples: Iterable[Sample]) -> list[Sample]:
    return [sample for sample in samples if sample.why]


def summary(values: Sequence[float]) -> Result:
    return Result(rounded(statistics.median(values)), rounded(min(values)), rounded(max(values)), len(values))


def begin(path: Path) -> None:
    """A race is not to be mixed with an earlier one by accident; whoever runs it in parts names several files."""
    path.write_bytes(b"")


def append(path: Path, samples: Iterable[Sample]) -> None:
    with path.open("ab") as file:
        for sample in samples:
            file.write(msgspec.json.encode(sample) + b"\n")


def read(paths: Iterable[Path]) -> list[Sample]:
    """Several files are one race, run in parts."""
    decoder = msgspec.json.Decoder(Sample)
    return [decoder.decode(line) for path in paths for line in path.read_bytes().splitlines()]
