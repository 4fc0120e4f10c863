"""What an exception of a user's code says to people."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cairn.core.execution import Failure

LONGEST = 10_000  # characters of a message
LONGEST_TRACE = 50_000
_LIBRARIES = (
    *{sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")},
    str(Path(__file__).parent.parent) + os.sep,
    "<frozen ",
)


def fault_of(error: BaseException, function: Callable[..., Any]) -> Failure:
    """Its type, its message, and the lines of the user's own code that led to it."""
    told = traceback.TracebackException.from_exception(error, compact=True)
    for one in _chain(told):
        one.stack = traceback.StackSummary.from_list([line for line in one.stack if _is_own(line, function)])
    trace = "".join(told.format())
    message = str(told) or "no message"
    return Failure(type(error).__qualname__, message[:LONGEST], trace[-LONGEST_TRACE:])


def _chain(told: traceback.TracebackException) -> list[traceback.TracebackException]:
    """The exception, those that caused it, and those inside a group."""
    left, found = [told], list[traceback.TracebackException]()
    while left:
        one = left.pop()
        found.append(one)
        left += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
        left += one.exceptions or []
    return found


def _is_own(line: traceback.FrameSummary, function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    return (code is not None and line.filename == code.co_filename) or not line.filename.startswith(_LIBRARIES)
