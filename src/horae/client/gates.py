"""Gates and the emergency stop as the clients offer them. Two faces over the same calls."""

from horae.client import calls
from horae.client.sender import AsyncSender, Sender
from horae.wire.gates import (
    Gate,
    GateChanges,
    GateCreate,
    GatePage,
    GatePreview,
    GateRestore,
    Restored,
    Stop,
    StopPreview,
)


class GateFace(Sender):
    def gates(self, *, over: bool = False) -> GatePage:
        return self.send(calls.gates(over=over))

    def gate(self, gate_id: int) -> Gate:
        return self.send(calls.gate(gate_id))

    def create_gate(self, gate: GateCreate) -> Gate:
        return self.send(calls.create_gate(gate))

    def preview_gate(self, gate: GateCreate) -> GatePreview:
        return self.send(calls.preview_gate(gate))

    def change_gate(self, gate_id: int, changes: GateChanges) -> Gate:
        return self.send(calls.change_gate(gate_id, changes))

    def release_gate(self, gate_id: int, rate: str | float | None = None) -> Gate:
        return self.send(calls.release_gate(gate_id, rate))

    def restore_gate(self, gate_id: int, which: GateRestore | None = None) -> Restored:
        return self.send(calls.restore_gate(gate_id, which))

    def preview_stop(self, tenant: str | None = None) -> StopPreview:
        """How far an emergency stop would reach."""
        return self.send(calls.preview_stop(tenant))

    def stop(self, order: Stop | None = None) -> Gate:
        return self.send(calls.stop(order))

    def go(self, tenant: str | None = None, rate: str | float | None = None) -> GatePage:
        return self.send(calls.go(tenant, rate))


class AsyncGateFace(AsyncSender):
    async def gates(self, *, over: bool = False) -> GatePage:
        return await self.send(calls.gates(over=over))

    async def gate(self, gate_id: int) -> Gate:
        return await self.send(calls.gate(gate_id))

    async def create_gate(self, gate: GateCreate) -> Gate:
        return await self.send(calls.create_gate(gate))

    async def preview_gate(self, gate: GateCreate) -> GatePreview:
        return await self.send(calls.preview_gate(gate))

    async def change_gate(self, gate_id: int, changes: GateChanges) -> Gate:
        return await self.send(calls.change_gate(gate_id, changes))

    async def release_gate(self, gate_id: int, rate: str | float | None = None) -> Gate:
        return await self.send(calls.release_gate(gate_id, rate))

    async def restore_gate(self, gate_id: int, which: GateRestore | None = None) -> Restored:
        return await self.send(calls.restore_gate(gate_id, which))

    async def preview_stop(self, tenant: str | None = None) -> StopPreview:
        """How far an emergency stop would reach."""
        return await self.send(calls.preview_stop(tenant))

    async def stop(self, order: Stop | None = None) -> Gate:
        return await self.send(calls.stop(order))

    async def go(self, tenant: str | None = None, rate: str | float | None = None) -> GatePage:
        return await self.send(calls.go(tenant, rate))
