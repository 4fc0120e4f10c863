"""A definition as YAML that can live in git: applied again, it changes nothing (P7)."""

from __future__ import annotations

from cairn.definitions.expansion import expand
from cairn.definitions.ids import without_ids
from cairn.definitions.model import PipelineDefinition
from cairn.definitions.shortening import shorten
from cairn.documents import canonical, encode_yaml


def to_yaml(definition: PipelineDefinition) -> str:
    """Readable text without ids, times and versions, in short forms, without what holds by default."""
    full = without_ids(definition).document
    short = shorten(without_ids(definition).document)
    # A definition that no short form says exactly is written out in full.
    return encode_yaml(short if canonical(expand(short)) == canonical(full) else full)
