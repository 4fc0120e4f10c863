"""Definitions as they come in and go out."""

from __future__ import annotations

from fastapi import Request

from cairn.api.incoming import Incoming, Written
from cairn.definitions import Finding as Found
from cairn.services.views.pipelines import Finding


async def read_written(request: Request) -> Written:
    """The document that a request carries, with the places of its parts."""
    incoming = request if isinstance(request, Incoming) else Incoming(request.scope, request.receive)
    return await incoming.document()


def finding(found: Found) -> Finding:
    return Finding(
        path=found.path,
        message=found.message,
        severity=found.severity.value,
        line=found.line,
        column=found.column,
    )
