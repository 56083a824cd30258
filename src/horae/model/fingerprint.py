"""Fingerprints: failures with one cause have one, so that thousands of them read as a few lines.

What differs from job to job is taken out of the message: numbers, ids, hexadecimal, quoted text, paths, addresses. The
innermost frame of the traceback that is not a library's tells apart errors that say the same in different places; its
line number is left out, because the next release would make a new cause of it.
"""

import hashlib
import re
from typing import Final

from horae.model.work import JobError

LENGTH: Final = 12
READ_CHARACTERS, KEPT_CHARACTERS = 2000, 500
_SEPARATOR: Final = re.compile(r"[\\/]")
_FRAME: Final = re.compile(r'^ *File "(?P<file>[^"\n]+)", line \d+, in (?P<name>[^\n]+)$', re.MULTILINE)
_LIBRARY: Final = re.compile(r"site-packages|dist-packages|[\\/]lib[\\/]python\d|^<frozen|[\\/]horae[\\/]worker[\\/]")
_VARIABLE: Final = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE), "<id>"),
    (re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE), "<address>"),
    (re.compile(r"(?<!\w)'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`[^`\n]*`"), "<text>"),
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"), "<mail>"),
    (re.compile(r"(?<![\w<>])(?:[A-Za-z]:)?(?:[\\/][\w.@~+-]+){2,}[\\/]?"), "<path>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<hex>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b", re.IGNORECASE), "<hex>"),
    (re.compile(r"[-+]?\d+(?:[.,:]\d+)*(?:e[-+]?\d+)?"), "<n>"),
    (re.compile(r"\s+"), " "),
)


def fingerprint(error: JobError | None) -> str:
    """Twelve hexadecimal digits; failures without an error have a cause of their own."""
    parts = ("", "", "") if error is None else (error.kind, normal(error.message), own_frame(error.traceback or ""))
    return hashlib.blake2b("\x00".join(parts).encode(errors="replace"), digest_size=LENGTH // 2).hexdigest()


def normal(message: str) -> str:
    """The message without what differs from job to job."""
    text = message[:READ_CHARACTERS]
    for pattern, stands_for in _VARIABLE:
        text = pattern.sub(stands_for, text)
    return text.strip()[:KEPT_CHARACTERS]


def own_frame(traceback: str) -> str:
    """The innermost frame of the user's own code, or of whatever there is: file name and function."""
    frames = [(found["file"], found["name"]) for found in _FRAME.finditer(traceback)]
    own = [frame for frame in frames if not _LIBRARY.search(frame[0])]
    if not frames:
        return ""
    file, name = (own or frames)[-1]
    return _SEPARATOR.split(file)[-1] + ":" + name
