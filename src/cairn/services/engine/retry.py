"""What goes better another time is tried again; what does not is told at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError, SQLAlchemyError

from cairn.documents import DocumentError
from cairn.store import DamagedBlob, LostRace, MissingBlob, StaleDispatch, Unstorable

log = logging.getLogger(__name__)

FIRST_WAIT, LONGEST_WAIT = 0.05, 5.0  # seconds between tries
AWAY = (
    SQLAlchemyError,
    OSError,
    LostRace,
    StaleDispatch,
)  # the database or the disk does not answer, or somebody was faster
PERMANENT_ERRORS = (IntegrityError, DataError, ProgrammingError, Unstorable, MissingBlob, DamagedBlob, DocumentError)
T = TypeVar("T")


async def retry_transient(act: Callable[[], Awaitable[T]]) -> T:
    """Again and again while the database or the disk is away."""
    wait = FIRST_WAIT
    while True:
        try:
            return await act()
        except PERMANENT_ERRORS:
            raise
        except AWAY as error:
            log.warning("not possible now, tried again in %.2g s: %s", wait, error)
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)
