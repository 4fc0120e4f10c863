"""Every text that people or models read, by surface. `make snapshots` writes the files again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.snapshots import api_texts, commands, events, messages, notifications, prompts
from tests.snapshots.comparing import FOLDER, compare_text

SURFACES: dict[str, Callable[[], str]] = {
    "problems.txt": messages.problems,
    "definition_findings.txt": messages.definition_findings,
    "log_messages.txt": messages.log_messages,
    "events.txt": events.descriptions,
    "notifications.txt": notifications.emails,
    "openapi_texts.txt": api_texts.openapi,
    "settings.txt": api_texts.settings,
    "cli_output.txt": commands.output,
    "prompts/library.md": prompts.library,
    "prompts/sentences.txt": prompts.sentences,
}


@pytest.mark.parametrize("name", SURFACES)
def test_texts_are_those_of_the_snapshot(name: str) -> None:
    compare_text(name, SURFACES[name]())


def test_command_help_is_that_of_the_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_text("cli_help.txt", commands.help_texts(monkeypatch))


@pytest.mark.parametrize("name", prompts.SITUATIONS)
async def test_prompts_are_those_of_the_snapshot(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    compare_text(f"prompts/{name}.md", await prompts.situation(name, tmp_path_factory.mktemp("agents")))


def test_no_snapshot_is_left_over() -> None:
    files = {str(file.relative_to(FOLDER)) for pattern in ("*.txt", "prompts/*") for file in FOLDER.glob(pattern)}
    assert files == {*SURFACES, "cli_help.txt", *(f"prompts/{name}.md" for name in prompts.SITUATIONS)}
