"""Texts that nobody should see while they are typed."""

from __future__ import annotations

import getpass
import sys

from cairn.cli.exit_codes import CommandFailed, ExitCode


def ask_hidden(what: str, *, twice: bool = False) -> str:
    """From the terminal without showing it; from a pipe, one line."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        if not line:
            raise CommandFailed(ExitCode.USAGE, f"{what}: standard input is empty.")
        return line.removesuffix("\n")
    given = getpass.getpass(f"{what}: ")
    if twice and getpass.getpass("The same again: ") != given:
        raise CommandFailed(ExitCode.USAGE, "The two are not the same.")
    return given
