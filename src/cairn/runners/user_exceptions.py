"""Describe an exception from a user's code as a failure."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cairn.core.execution import Failure

MAX_MESSAGE = 10_000  # characters
MAX_TRACE = 50_000  # characters
_LIBRARIES = (
    *{sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")},
    str(Path(__file__).parent.parent) + os.sep,
    "<frozen ",
)


def failure_from(error: BaseException, function: Callable[..., Any]) -> Failure:
    """The type and message of the exception, with a traceback of the user's own code."""
    explained = traceback.TracebackException.from_exception(error, compact=True)
    for exception in _chain(explained):
        exception.stack = traceback.StackSummary.from_list(
            [line for line in exception.stack if _is_own(line, function)]
        )
    trace = "".join(explained.format())
    message = str(explained) or "no message"
    return Failure(type(error).__qualname__, message[:MAX_MESSAGE], trace[-MAX_TRACE:])


def _chain(explained: traceback.TracebackException) -> list[traceback.TracebackException]:
    """The exception, its causes, and the exceptions of a group."""
    pending, found = [explained], list[traceback.TracebackException]()
    while pending:
        exception = pending.pop()
        found.append(exception)
        pending += [cause for cause in (exception.__cause__, exception.__context__) if cause is not None]
        pending += exception.exceptions or []
    return found


def _is_own(line: traceback.FrameSummary, function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    return (code is not None and line.filename == code.co_filename) or not line.filename.startswith(_LIBRARIES)
