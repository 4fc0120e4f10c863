"""Request bodies for action types."""

from __future__ import annotations

from cairn.api.request_body import RequestBody
from cairn.config.action_types import ActionTypeDeclaration


class PutActionTypeRequest(ActionTypeDeclaration, RequestBody):
    """An action type. Of a built-in type, fields that you leave out stay as they are."""
