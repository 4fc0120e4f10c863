"""Every event with its meaning and its description, with sample data."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from cairn.core.events import EventType
from cairn.store.events.descriptions import CHOICES, SENTENCES, describe

SAMPLE: Mapping[str, Any] = {
    "actions": ["one", "two"],
    "agent": "refund-clerk",
    "approved_by": "rule:small-refunds",
    "artifacts": [{"name": "report.md"}, {"name": "summary.json"}],
    "attempt_number": 2,
    "budget": "10 calls",
    "changed_fields": ["display_name", "roles"],
    "channel": "operations",
    "count": 3,
    "counts": {"rewritten": 2, "moved_aside": 1},
    "decision": "approve",
    "effect": "reads",
    "error": "Connection refused",
    "from_user": "mira",
    "received_approvals": 1,
    "group": "support",
    "kind": "completion",
    "required_approvals": 2,
    "modified_by": "mira",
    "operation_type": "refund",
    "pass_number": 2,
    "provider": "corporate",
    "refusals": 1,
    "refused_by": "mira",
    "reason": "The reason that was given",
    "revision": 4,
    "revision_iteration": 1,
    "run_version": 3,
    "secret": "smtp_password",
    "settled_by": "jonas",
    "signed_in_with": "password",
    "target": 1,
    "to_revision": 2,
    "to_user": "jonas",
    "token": "deployments",
    "tool": "mcp:files/read_text_file",
    "user": "mira",
    "waiting_on": "human_form",
}


def descriptions() -> str:
    run_events = [event.value for event in EventType]
    other_events = [name for name in SENTENCES if name not in run_events]
    parts = [
        "# Events of a run",
        *(_entry(name, _meaning(EventType(name))) for name in run_events),
        "# Other events",
        *(_entry(name) for name in other_events),
    ]
    return "\n\n".join(parts) + "\n"


def _entry(name: str, meaning: str = "") -> str:
    lines = [f"{name}: {meaning}" if meaning else name, f"    {describe(name, 'Review', SAMPLE)}"]
    key, choices = CHOICES.get(name, ("", {}))
    lines += [f"    {key}={value}: {describe(name, 'Review', {**SAMPLE, key: value})}" for value in choices]
    return "\n".join(lines)


def _meaning(member: EventType) -> str:
    """The comment on the line of the enum member."""
    source = inspect.getsource(EventType)
    match = re.search(rf"^    {member.name} = .*?  # (?:noqa\S* ?\S* - )?(.*)$", source, re.MULTILINE)
    return match[1] if match else ""
