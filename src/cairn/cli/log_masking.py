"""The server's log without secrets and personal data (S2)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from cairn.services.masking import mask


class MaskingFilter(logging.Formatter):
    """Whole lines are masked when they are written, with what errors say of themselves."""

    def __init__(self, form: logging.Formatter, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._form = form
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        return mask(self._hide(self._form.format(record)))


def mask_log(hide: Callable[[str], str]) -> None:
    """From now on every handler masks; `hide` knows the values of the secret store."""
    for handler in logging.getLogger().handlers:
        if not isinstance(handler.formatter, MaskingFilter):
            handler.setFormatter(MaskingFilter(handler.formatter or logging.Formatter(), hide))
