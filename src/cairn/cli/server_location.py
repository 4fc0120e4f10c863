"""Where the data is, and which server holds it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

FOLDER = "cairn-data"
FILE = "server.json"


@dataclass(frozen=True, slots=True)
class ServerLocation:
    """A server to talk to, or without an address a folder to open."""

    folder: Path
    address: str | None = None
    token: str | None = None

    @property
    def shown(self) -> str:
        return self.address or str(self.folder)


def folder_of(data_dir: Path | None) -> Path:
    return data_dir or Path(os.environ.get("CAIRN_DATA_DIR") or FOLDER)


def find(data_dir: Path | None, server: str | None, token: str | None) -> ServerLocation:
    """What the command line and the environment name; else the server that holds the folder; else the folder."""
    folder = folder_of(data_dir)
    server = server or (os.environ.get("CAIRN_SERVER") if data_dir is None else None)
    for_elsewhere = os.environ.get("CAIRN_TOKEN")  # here the folder's own token is the right one
    if server:
        known = token or for_elsewhere or _token_for(folder, _address(server))
        return ServerLocation(folder, _address(server), known)
    written = read(folder)
    if not is_alive(written):
        return ServerLocation(folder, None, token)
    return ServerLocation(folder, written["address"], token or written.get("token") or for_elsewhere)


def read(folder: Path) -> dict[str, Any]:
    """What the folder's server wrote down; empty if nothing can be read."""
    try:
        written: Any = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", written) if isinstance(written, dict) else {}


def is_alive(written: dict[str, Any]) -> bool:
    """Is the process that wrote it still there? A killed one leaves its address behind."""
    pid, address = written.get("pid"), written.get("address")
    if not isinstance(pid, int) or not isinstance(address, str):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def write(folder: Path, content: dict[str, object]) -> None:
    """Readable by its owner alone."""
    fd = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(fd, 0o600)
    with os.fdopen(fd, "w") as out:
        json.dump(content, out)


def _address(server: str) -> str:
    return (server if "://" in server else f"http://{server}").rstrip("/")


def _token_for(folder: Path, address: str) -> str | None:
    """The local token is for the folder's own server alone."""
    written = read(folder)
    token = written.get("token")
    return token if written.get("address") == address and isinstance(token, str) else None


def has_data(folder: Path) -> bool:
    return (folder / "cairn.db").is_file()
