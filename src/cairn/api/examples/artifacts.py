"""Content of an artifact."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.services.artifacts.views import ArtifactPage


def artifacts() -> ArtifactPage:
    return story.page(ArtifactPage, story.artifact())


def content() -> dict[str, Any]:
    return {"goals": "Twice as many customers"}


def content_text() -> str:
    return '{"goals": "Twice as many customers"}'
