"""`cairn`: the way in. Little is imported before Ctrl-C is looked after."""

from __future__ import annotations

import gc
import signal
import sys

_LOT = 50_000  # objects: of what is imported, nothing is ever garbage


def main() -> None:
    gc.set_threshold(_LOT)
    try:
        from cairn.cli.app import app

        app()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        _finish()


def _finish() -> None:
    """What is left to be written may find that nobody reads any more; a late Ctrl-C changes nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        from cairn.cli.context import discard_output

        discard_output()
        sys.exit(141)
