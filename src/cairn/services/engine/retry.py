"""Retry transient errors of the database and the disk with backoff."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from cairn.documents import DocumentError
from cairn.store import errors

log = logging.getLogger(__name__)

FIRST_WAIT, MAX_WAIT = 0.05, 5.0  # seconds between attempts
TRANSIENT_ERRORS = (*errors.TRANSIENT_ERRORS, OSError)
PERMANENT_ERRORS = (*errors.PERMANENT_ERRORS, DocumentError)
T = TypeVar("T")


async def retry_transient(operation: Callable[[], Awaitable[T]]) -> T:
    """Retry while the database or the disk is unavailable. Other errors are raised at once."""
    wait = FIRST_WAIT
    while True:
        try:
            return await operation()
        except PERMANENT_ERRORS:
            raise
        except TRANSIENT_ERRORS as error:
            log.warning("temporary error, retrying in %.2g s: %s", wait, error)
            await asyncio.sleep(wait)
            wait = min(wait * 2, MAX_WAIT)
