"""Calls the script, and tells what came of it."""

from __future__ import annotations

import json
import os
import sys

from .confinement import confine
from .connection import ParentConnection
from .ctx import CallMismatch, CallPending, Ctx
from .exact_json import NotSerializable, encode, replace_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

LONGEST = 10_000  # characters of a message
LONGEST_TRACE = 50_000


class CallReport(Exception):
    """Something that is told in words, without a trace."""


def main() -> None:
    fd, setup = int(sys.argv[1]), json.loads(sys.argv[2])
    confine(setup)
    sys.argv = [""]
    line = ParentConnection(fd)
    begin: dict[str, Any] = {
        **json.loads(line.receive()[1]),
        **{name: setup[name] for name in ("workspace", "scripts")},
    }
    printed: tuple[Any, ...] = (sys.stdout, sys.stderr)
    for stream in printed:
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    line.send(*_carry_out(line, begin))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(0)


def _carry_out(line: ParentConnection, begin: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The last message: what it came to."""
    try:
        ctx = Ctx(line, begin, json.loads(line.request({"kind": "see", "number": 0})[1]))
        returned = _call(ctx, begin)
        return {"kind": "returned"}, b"" if returned is None else encode(returned)
    except NotSerializable as error:
        return {"kind": "unwritable", "path": error.path}, json.dumps(str(error)).encode()
    except CallPending as waits:
        number, kind, arguments = waits.args
        return {"kind": "waits", "number": number, "call": kind}, json.dumps(arguments).encode()
    except CallMismatch as differs:
        number, before, now = differs.args
        return {"kind": "differs", "number": number}, json.dumps([before, now]).encode()
    except CallReport as told:
        return {"kind": "raised", "type": told.args[0]}, json.dumps([told.args[1], ""]).encode()
    except BaseException as error:  # noqa: BLE001 - whatever it is, also sys.exit(), only this execution fails
        return {"kind": "raised", "type": type(error).__qualname__}, json.dumps(_explain(error, begin)).encode()


def _call(ctx: Ctx, begin: dict[str, Any]) -> Any:
    returned: Any = _find_entry(_load(begin), begin)(ctx, **begin["parameters"])
    if hasattr(returned, "__await__"):
        import asyncio

        async def wait() -> Any:
            return await returned

        returned = asyncio.run(wait())
    ctx.check_repeated()
    return returned


def _load(begin: dict[str, Any]) -> ModuleType:
    scripts: str = begin["scripts"]
    path = os.path.join(scripts, begin["script"])
    with open(path, encoding="utf-8") as file:
        source = file.read()
    sys.dont_write_bytecode = True
    for folder in dict.fromkeys((scripts, os.path.dirname(path))):
        sys.path.insert(0, folder)
    module = type(sys)(os.path.splitext(os.path.basename(path))[0])
    module.__file__ = path
    sys.modules[module.__name__] = module
    exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102 - that is what it is for
    return module


def _find_entry(module: ModuleType, begin: dict[str, Any]) -> Any:
    found = getattr(module, begin["entry_function"], None)
    if callable(found):
        return found
    own = (n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == module.__name__)
    names = ", ".join(sorted(own)) or "none"
    told = f"{begin['script']} has no function {begin['entry_function']!r}. Functions in it: {names}."
    raise CallReport("no_entry_function", told)


def _explain(error: BaseException, begin: dict[str, Any]) -> list[str]:
    """Its message, and the lines of the user's own code that led to it."""
    import sysconfig
    import traceback

    root = begin["scripts"] + os.sep
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    libraries = (*(f"{sysconfig.get_path(name)}/" for name in names), os.path.dirname(__file__), "<frozen ")
    told = traceback.TracebackException.from_exception(error, compact=True)
    left = [told]
    while left:
        one = left.pop()
        own = [line for line in one.stack if line.filename.startswith(root) or not line.filename.startswith(libraries)]
        one.stack = traceback.StackSummary.from_list(own)
        left += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
        left += getattr(one, "exceptions", None) or []
    message, trace = str(told) or "no message", "".join(told.format())
    message, trace = (replace_surrogates(text.replace(root, "")) for text in (message, trace))
    return [message[:LONGEST], trace[-LONGEST_TRACE:]]
