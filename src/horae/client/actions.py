"""Bulk actions and dead letters as the clients offer them. Two faces over the same calls."""

from typing import Any

from horae.client import calls
from horae.client.sender import AsyncSender, Sender
from horae.wire.actions import Action, ActionPage, ActionRequest, DeadLetterRequest, DeadLetters


class ActionFace(Sender):
    def act(self, request: ActionRequest) -> Action:
        """Does something to all jobs that match a filter, or with `preview` only counts them."""
        return self.send(calls.act(request))

    def actions(self, cursor: str | None = None, limit: int | None = None, tenant: str | None = None) -> ActionPage:
        return self.send(calls.actions(cursor, limit, tenant))

    def action(self, action_id: str) -> Action:
        return self.send(calls.action(action_id))

    def cancel_action(self, action_id: str) -> Action:
        return self.send(calls.cancel_action(action_id))

    def undo_action(self, action_id: str) -> Action:
        return self.send(calls.undo_action(action_id))

    def dead_letters(self, **filters: Any) -> DeadLetters:
        """The failed jobs by cause; with `cause` a page of the jobs themselves too."""
        return self.send(calls.dead_letters(**filters))

    def redrive(self, request: DeadLetterRequest) -> Action:
        return self.send(calls.redrive(request))

    def discard(self, request: DeadLetterRequest) -> Action:
        return self.send(calls.discard(request))


class AsyncActionFace(AsyncSender):
    async def act(self, request: ActionRequest) -> Action:
        return await self.send(calls.act(request))

    async def actions(
        self, cursor: str | None = None, limit: int | None = None, tenant: str | None = None
    ) -> ActionPage:
        return await self.send(calls.actions(cursor, limit, tenant))

    async def action(self, action_id: str) -> Action:
        return await self.send(calls.action(action_id))

    async def cancel_action(self, action_id: str) -> Action:
        return await self.send(calls.cancel_action(action_id))

    async def undo_action(self, action_id: str) -> Action:
        return await self.send(calls.undo_action(action_id))

    async def dead_letters(self, **filters: Any) -> DeadLetters:
        return await self.send(calls.dead_letters(**filters))

    async def redrive(self, request: DeadLetterRequest) -> Action:
        return await self.send(calls.redrive(request))

    async def discard(self, request: DeadLetterRequest) -> Action:
        return await self.send(calls.discard(request))
