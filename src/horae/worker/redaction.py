"""The end of an attempt without the secrets that its process knew."""

from typing import Final

import msgspec

from horae.model.job import INLINE_RESULT_BYTES
from horae.model.states import End
from horae.model.work import Finished, JobError
from horae.worker.masking import Masker

_CUT_HERE: Final = "…"
_CUT: Final = 2_000
"""Messages of this length may have been cut at their end, and last words at their beginning."""


def redact(finished: Finished, masker: Masker) -> None:
    if finished.result is not msgspec.UNSET:
        result = masker.mask_json(bytes(finished.result))
        finished.result = msgspec.Raw(result)
        if finished.blob is not None or len(result) > INLINE_RESULT_BYTES:
            finished.blob = len(result)
    if (error := finished.error) is not None:
        message = redact_start(error.message, masker, _CUT)
        finished.error = JobError(error.kind, message, _trace(error.traceback, finished.end, masker))


def redact_start(text: str, masker: Masker, most: int) -> str:
    """Of a text that may have been cut off behind so many characters, or where it ends in `…`."""
    if text.endswith(_CUT_HERE):
        return masker.mask_beginning(text.removesuffix(_CUT_HERE)) + _CUT_HERE
    return masker.mask_beginning(text) if len(text) >= most else masker.mask_text(text)


def _trace(text: str | None, end: End, masker: Masker) -> str | None:
    """Of one that begins in the middle of a line that line goes: half a secret could not be told from other text."""
    if text is None:
        return None
    if text.startswith(_CUT_HERE) or (end is End.CRASHED and len(text) >= _CUT):
        text = f"{_CUT_HERE}\n" + text.partition("\n")[2]
    return masker.mask_text(text)
