"""A notice as JSON for programs, signed so that its receiver can tell who sent it."""

from __future__ import annotations

import hmac
from datetime import datetime
from hashlib import sha256
from typing import Any

from cairn.services.notifications.content import NotificationContent


def body(content: NotificationContent, base: str, delivery_id: str, at: datetime) -> dict[str, Any]:
    return {
        "id": delivery_id,
        "kind": content.kind,
        "sent_at": at.isoformat(),
        "title": content.title,
        "text": content.text,
        "facts": [{"name": fact.name, "value": fact.value} for fact in content.facts],
        "sections": [{"heading": s.heading, "lines": list(s.lines)} for s in content.sections],
        "links": [{"label": b.label, "url": base + b.path} for b in content.links],
        "subject": dict(content.subject),
    }


def sign(key: str, at: datetime, sent: bytes) -> str:
    """What `Cairn-Signature` says: HMAC-SHA256 over the time, a full stop and the body."""
    moment = int(at.timestamp())
    digest = hmac.new(key.encode(), f"{moment}.".encode() + sent, sha256).hexdigest()
    return f"t={moment},v1={digest}"
