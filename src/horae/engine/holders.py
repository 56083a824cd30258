"""Holders: the gates and limits that stand in a job's way, by name and as records."""

from horae.engine.policy import Policy
from horae.model import gates as gating
from horae.model.explanation import HoldingGate
from horae.model.gates import Gate
from horae.model.limits import Group, groups_of
from horae.store.control import LaneKey


def gate_of(policy: Policy, key: LaneKey, group_id: int) -> Gate | None:
    """The gate whose rate of release, or of probes, this group is."""
    concerned = (gate for gate in policy.gates if gating.concerns(gate, key))
    return next((g for g in concerned if (group := gating.rate_group(g)) is not None and group.id == group_id), None)


def group_name(group: Group, key: LaneKey) -> str:
    return f"key {key.concurrency_key}" if group.rule is None else group.rule.name


def limit_name(policy: Policy, key: LaneKey, group_id: int) -> str:
    """What people call the limit that a group belongs to."""
    gate = gate_of(policy, key, group_id)
    if gate is not None:
        return f"gate {gate.id}"
    found = next((group for group in groups_of(policy.limits, key) if group.id == group_id), None)
    # The groups of a lane's spread are one a worker, and are no rules.
    return "spread" if found is None else group_name(found, key)


def holding_gate(gate: Gate) -> HoldingGate:
    return HoldingGate(
        id=gate.id,
        action=gate.action.value,
        kind=gate.kind.value,
        owner=gate.owner,
        reason=gate.reason,
        since=gate.made_at,
        expires_at=gate.expires_at,
    )
