"""Call the script and send its outcome to the server."""

from __future__ import annotations

import json
import os
import sys

from .actions import CallResult
from .confinement import confine
from .connection import ParentConnection
from .ctx import CallMismatch, CallPending, Ctx
from .exact_json import NotSerializable, encode, replace_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

MAX_MESSAGE = 10_000  # characters
MAX_TRACE = 50_000  # characters


class CallReport(Exception):
    """An error that is reported without a traceback. Its arguments are the type and the message."""


def main() -> None:
    fd, setup = int(sys.argv[1]), json.loads(sys.argv[2])
    confine(setup)
    sys.argv = [""]
    connection = ParentConnection(fd)
    order: dict[str, Any] = {
        **json.loads(connection.receive()[1]),
        **{name: setup[name] for name in ("workspace", "scripts")},
    }
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    connection.send(*_run(connection, order))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(0)


def _run(connection: ParentConnection, order: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Call the script and return the final message, which contains the outcome."""
    try:
        ctx = Ctx(connection, order, json.loads(connection.request({"kind": "inputs", "number": 0})[1]))
        returned = _call(ctx, order)
        return {"kind": "returned"}, b"" if returned is None else encode(returned)
    except NotSerializable as error:
        return {"kind": "not_serializable", "path": error.path}, json.dumps(str(error)).encode()
    except CallPending as pending:
        number, kind, arguments = pending.args
        return {"kind": "pending", "number": number, "call": kind}, json.dumps(arguments).encode()
    except CallMismatch as mismatch:
        number, before, now = mismatch.args
        return {"kind": "mismatch", "number": number}, json.dumps([before, now]).encode()
    except CallReport as report:
        return {"kind": "raised", "type": report.args[0]}, json.dumps([report.args[1], ""]).encode()
    except BaseException as error:  # noqa: BLE001 - including SystemExit
        return {"kind": "raised", "type": type(error).__qualname__}, json.dumps(_explain(error, order)).encode()


def _call(ctx: Ctx, order: dict[str, Any]) -> Any:
    returned: Any = _find_entry(_load(order), order)(ctx, **order["parameters"])
    if hasattr(returned, "__await__") and not isinstance(returned, CallResult):
        import asyncio

        async def wait() -> Any:
            return await returned

        returned = asyncio.run(wait())
    ctx.check_repeated()
    return returned


def _load(order: dict[str, Any]) -> ModuleType:
    scripts: str = order["scripts"]
    path = os.path.join(scripts, order["script"])
    with open(path, encoding="utf-8") as file:
        source = file.read()
    sys.dont_write_bytecode = True
    for folder in dict.fromkeys((scripts, os.path.dirname(path))):
        sys.path.insert(0, folder)
    module = type(sys)(os.path.splitext(os.path.basename(path))[0])
    module.__file__ = path
    sys.modules[module.__name__] = module
    exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102 - running the user's code is the purpose of this process
    return module


def _find_entry(module: ModuleType, order: dict[str, Any]) -> Any:
    found = getattr(module, order["entry_function"], None)
    if callable(found):
        return found
    own = (n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == module.__name__)
    names = ", ".join(sorted(own)) or "none"
    message = f"{order['script']} has no function {order['entry_function']!r}. Its functions are: {names}."
    raise CallReport("no_entry_function", message)


def _explain(error: BaseException, order: dict[str, Any]) -> list[str]:
    """The message of the error, and a traceback of the user's own code."""
    import sysconfig
    import traceback

    root = order["scripts"] + os.sep
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    libraries = (*(f"{sysconfig.get_path(name)}/" for name in names), os.path.dirname(__file__), "<frozen ")
    explained = traceback.TracebackException.from_exception(error, compact=True)
    pending = [explained]
    while pending:
        exception = pending.pop()
        own = [
            line
            for line in exception.stack
            if line.filename.startswith(root) or not line.filename.startswith(libraries)
        ]
        exception.stack = traceback.StackSummary.from_list(own)
        pending += [cause for cause in (exception.__cause__, exception.__context__) if cause is not None]
        pending += getattr(exception, "exceptions", None) or []
    message, trace = str(explained) or "no message", "".join(explained.format())
    message, trace = (replace_surrogates(text.replace(root, "")) for text in (message, trace))
    return [message[:MAX_MESSAGE], trace[-MAX_TRACE:]]
