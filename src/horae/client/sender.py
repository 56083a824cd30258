"""What the clients' methods stand on: a call is sent, and its answer comes back.

Methods are grouped by what they are about, a module each with both faces; the clients inherit them all.
"""

from abc import ABC, abstractmethod
from typing import TypeVar

from horae.client.calls import Call

T = TypeVar("T")


class Sender(ABC):
    @abstractmethod
    def send(self, call: Call[T]) -> T: ...


class AsyncSender(ABC):
    @abstractmethod
    async def send(self, call: Call[T]) -> T: ...
