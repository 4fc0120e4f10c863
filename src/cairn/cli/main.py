"""The entry point of `cairn`. Imports little, so that Ctrl-C is handled early."""

from __future__ import annotations

import gc
import signal
import sys

_GC_THRESHOLD = 50_000  # imported objects are never garbage, so collect rarely


def main() -> None:
    gc.set_threshold(_GC_THRESHOLD)
    try:
        from cairn.cli.app import app

        app()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        _flush_output()


def _flush_output() -> None:
    """Flush the output and ignore a late Ctrl-C. Exits with 141 if the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        from cairn.cli.context import discard_output

        discard_output()
        sys.exit(141)
