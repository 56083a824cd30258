"""Secrets are taken out of whatever leaves the worker.

A secret is looked for as it is and in the forms that programs give it without meaning to (`disguises`). Code that wants
to give a secret away can always write it backwards: this guards against accidents, not against thieves.

Heads of forms are searched for one by one, because that is what the interpreter does fastest: one pattern for all of
them was five times slower. A secret of many lines has too many; then every place of the text is looked up instead,
which takes the same time however many there are. What overlaps is masked as one.

Invariant: what was given out holds no form of a secret, however the stream was cut into pieces. Only what may be the
beginning of one is kept back, so never more than the longest form.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from horae.worker.disguises import SHORTEST_FORM, disguises

MASK: Final = b"***"
_HEAD: Final = 16
_MANY: Final = 600
"""Heads beyond which to look at every place is quicker than to look for each."""


class Masker:
    def __init__(self, secrets: dict[str, str]) -> None:
        self._values: set[str] = set()
        self._forms: dict[bytes, list[bytes]] = {}
        """By their first bytes; the longest first."""
        self._heads: list[bytes] = []
        """In order."""
        self._firsts: frozenset[int] = frozenset()
        """Their first bytes."""
        self._keys: dict[bytes, list[bytes]] = {}
        """Heads by what the shortest form has of them."""
        self._held: dict[str, tuple[bytes, int]] = {}
        """What was kept back of each stream, and how much of that the last mask given out stands for."""
        self.learn(secrets)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def learn(self, secrets: dict[str, str]) -> None:
        """Masks these too from now on."""
        fresh = set(secrets.values()) - self._values
        self._values |= fresh
        for form in {form for value in fresh for form in disguises(value)}:
            self._forms.setdefault(form[:_HEAD], []).append(form)
        for forms in self._forms.values():
            forms.sort(key=len, reverse=True)
        self._heads = sorted(self._forms)
        self._firsts = frozenset(head[0] for head in self._heads)
        self._keys = {}
        for head in self._heads:
            self._keys.setdefault(head[:SHORTEST_FORM], []).append(head)

    def mask(self, stream: str, data: bytes) -> bytes:
        """What can be given out of the stream now; the rest comes with later calls or with `flush`."""
        if not self._forms:
            return data
        held, covered = self._held.get(stream, (b"", 0))
        text = held + data
        spans, end = self._find(text)
        end = min(end, self._short_end(text))
        clean, covered = _cover(text, [span for span in spans if span[0] < end], covered, end)
        self._held[stream] = text[end:], covered
        return clean

    def flush(self, stream: str) -> bytes:
        """The rest of a stream that has ended."""
        held, covered = self._held.pop(stream, (b"", 0))
        return _cover(held, self._find(held)[0], covered, len(held))[0] if held else held

    def mask_bytes(self, data: bytes) -> bytes:
        return _cover(data, self._find(data)[0], 0, len(data))[0] if self._forms else data

    def mask_text(self, text: str) -> str:
        if not self._forms:
            return text
        return self.mask_bytes(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def mask_beginning(self, text: str) -> str:
        """The same for a text that was cut off: at its end there may be half a secret."""
        stream = "the beginning of a text"
        clean = self.mask(stream, text.encode(errors="surrogatepass"))
        return (clean + (MASK if self.flush(stream) else b"")).decode(errors="replace")

    def mask_json(self, data: bytes) -> bytes:
        """JSON in, JSON out: texts and keys are masked inside, a number that shows a secret becomes the mask.

        When a secret stands across several values, nothing less than the whole is masked.
        """
        if not self._forms:
            return data
        try:
            return self._mask_json(data)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return self._all_or_nothing(data)

    def _mask_json(self, data: bytes) -> bytes:
        whole = msgspec.json.decode(data)
        plain = msgspec.json.encode(whole)  # Without needless escapes, in which a secret could hide.
        if not self._find(data)[0] and not self._find(plain)[0]:
            return data
        masked = self.mask_bytes(plain)
        # To look at every value takes long where there are many, so it is done only if a mask has broken the syntax.
        return masked if _is_json(masked) else self._all_or_nothing(msgspec.json.encode(self._mask_value(whole)))

    def _all_or_nothing(self, data: bytes) -> bytes:
        return msgspec.json.encode(MASK.decode()) if self._find(data)[0] else data

    def _mask_value(self, value: Any) -> Any:
        match value:
            case str():
                return self.mask_text(value)
            case list():
                return [self._mask_value(part) for part in value]
            case dict():
                return {self.mask_text(key): self._mask_value(part) for key, part in value.items()}
            case int() | float() if self._find(msgspec.json.encode(value))[0]:
                return MASK.decode()
        return value

    def _find(self, text: bytes) -> tuple[list[tuple[int, int]], int]:
        """Where forms stand, and from where on there may be the beginning of one, longer than a head."""
        spans, end = [], len(text)
        for at, forms in self._places(text):
            if form := next((form for form in forms if text.startswith(form, at)), None):
                spans.append((at, at + len(form)))
            if at < end and len(forms[0]) > len(text) - at:
                rest = text[at:]
                if any(len(form) > len(rest) and form.startswith(rest) for form in forms):
                    end = at
        return spans, end

    def _places(self, text: bytes) -> Iterator[tuple[int, list[bytes]]]:
        """Where heads stand, with the forms that begin so."""
        if len(self._heads) > _MANY:
            yield from self._all_places(text)
            return
        for head, forms in self._forms.items():
            at = text.find(head)
            while at >= 0:
                yield at, forms
                at = text.find(head, at + 1)

    def _all_places(self, text: bytes) -> Iterator[tuple[int, list[bytes]]]:
        keys = self._keys
        for at in [at for at in range(len(text)) if text[at : at + SHORTEST_FORM] in keys]:
            for head in keys[text[at : at + SHORTEST_FORM]]:
                if text.startswith(head, at):
                    yield at, self._forms[head]

    def _short_end(self, text: bytes) -> int:
        """From where on there may be the beginning of a head."""
        for at in range(max(0, len(text) - _HEAD + 1), len(text)):
            if text[at] in self._firsts and self._begins_head(text[at:]):
                return at
        return len(text)

    def _begins_head(self, rest: bytes) -> bool:
        place = bisect_left(self._heads, rest)
        if self._heads[place : place + 1] == [rest]:
            place += 1
        return place < len(self._heads) and self._heads[place].startswith(rest)


def _cover(text: bytes, spans: list[tuple[int, int]], covered: int, end: int) -> tuple[bytes, int]:
    """The text up to the end with spans masked, and how far the last mask reaches beyond that."""
    pieces: list[bytes] = []
    done = covered
    for start, stop in sorted(spans):
        if start >= done:
            pieces += text[done:start], MASK
        done = max(done, stop)
    pieces.append(text[done:end])
    return b"".join(pieces), max(0, done - end)


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError):
        return False
    return True
