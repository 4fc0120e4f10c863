"""Run a piece of code as a program. Its output is its only result."""

from __future__ import annotations

import json
import os
import sys

from .confinement import confine
from .connection import ParentConnection

NAME = "code.py"


def main() -> None:
    fd, setup = int(sys.argv[1]), json.loads(sys.argv[2])
    confine(setup)
    sys.argv = [NAME]
    sys.dont_write_bytecode = True
    sys.path.insert(0, setup["workspace"])
    code = ParentConnection(fd).receive()[1].decode()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    status = _run(code)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(status)


def _run(code: str) -> int:
    try:
        exec(compile(code, NAME, "exec"), {"__name__": "__main__", "__file__": NAME})  # noqa: S102 - running this code is the purpose of the process
    except SystemExit as error:
        if isinstance(error.code, int):
            return error.code & 0xFF
        if error.code is not None:
            print(error.code, file=sys.stderr)  # noqa: T201
        return 0 if error.code is None else 1
    except BaseException:  # noqa: BLE001 - every error is printed
        import traceback

        traceback.print_exc()
        return 1
    return 0
