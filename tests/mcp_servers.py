"""MCP servers for tests: one that records its calls, and a real one from npm."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.isolation import PATIENCE

RECORDER = str(Path(__file__).parent / "runners" / "mcp_recorder.py")
WEB_TOOLS = Path(__file__).parents[1] / "web" / "tools"
NODE = Path(sys.prefix) / "bin" / "node"


@dataclass(frozen=True)
class RecordingServer:
    """The server `recorder`. Its calls are in a file, and its description can change."""

    folder: Path

    @property
    def settings(self) -> dict[str, Any]:
        environment = {"RECORDER_FILE": str(self.folder / "calls.jsonl")}
        return {
            "command": sys.executable,
            "args": [RECORDER],
            "env": environment,
            "timeout_seconds": int(PATIENCE),
        }

    @property
    def calls(self) -> list[dict[str, Any]]:
        file = self.folder / "calls.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def reset(self) -> None:
        for name in ("calls.jsonl", "calls.txt"):
            (self.folder / name).unlink(missing_ok=True)

    def describe(self, description: str) -> None:
        (self.folder / "calls.txt").write_text(description)


@dataclass(frozen=True)
class FilesystemServer:
    """The server `files`: @modelcontextprotocol/server-filesystem, in a copy that tests can change."""

    folder: Path

    @classmethod
    def install(cls, folder: Path) -> FilesystemServer:
        package = WEB_TOOLS / "node_modules" / "@modelcontextprotocol" / "server-filesystem"
        shutil.copytree(package, folder / "server")
        (folder / "node_modules").symlink_to(WEB_TOOLS / "node_modules")
        server = cls(folder)
        server.root.mkdir()
        return server

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def settings(self) -> dict[str, Any]:
        program = self.folder / "server" / "dist" / "index.js"
        return {
            "command": str(NODE),
            "args": [str(program), str(self.root)],
            "timeout_seconds": int(PATIENCE),
        }

    def replace(self, before: str, after: str) -> None:
        """Publish another version of the server, as a package runner without a fixed version would start it."""
        program = self.folder / "server" / "dist" / "index.js"
        text = program.read_text()
        assert before in text
        program.write_text(text.replace(before, after))
