"""Format a notification as signed JSON."""

from __future__ import annotations

import hmac
from datetime import datetime
from hashlib import sha256
from typing import Any

from cairn.services.notifications.content import NotificationContent


def body(content: NotificationContent, base_url: str, delivery_id: str, at: datetime) -> dict[str, Any]:
    return {
        "id": delivery_id,
        "kind": content.kind,
        "sent_at": at.isoformat(),
        "title": content.title,
        "text": content.text,
        "facts": [{"name": fact.name, "value": fact.value} for fact in content.facts],
        "sections": [{"heading": s.heading, "lines": list(s.lines)} for s in content.sections],
        "links": [{"label": link.label, "url": base_url + link.path} for link in content.links],
        "subject": dict(content.subject),
    }


def signature(key: str, at: datetime, payload: bytes) -> str:
    """The `Cairn-Signature` header: HMAC-SHA256 over the time, a full stop and the body."""
    timestamp = int(at.timestamp())
    digest = hmac.new(key.encode(), f"{timestamp}.".encode() + payload, sha256).hexdigest()
    return f"t={timestamp},v1={digest}"
