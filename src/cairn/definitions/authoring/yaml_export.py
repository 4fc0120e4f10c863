"""A definition as YAML that can live in git: applied again, it changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cairn.definitions.authoring.expansion import expand
from cairn.definitions.authoring.shortening import shorten
from cairn.definitions.ids import without_ids
from cairn.definitions.model import PipelineDefinition
from cairn.definitions.script_files import with_texts
from cairn.documents import canonical, encode_yaml

NO_SCRIPTS: Mapping[str, str] = MappingProxyType({})


def to_yaml(definition: PipelineDefinition, scripts: Mapping[str, str] = NO_SCRIPTS) -> str:
    """Readable text without ids, times and versions, in short forms, without what holds by default.

    `scripts` are the texts of its scripts, by path: with them it can be applied elsewhere."""
    full = without_ids(definition).document
    short = shorten(without_ids(definition).document)
    # A definition that no short form says exactly is written out in full.
    return encode_yaml(with_texts(short if canonical(expand(short)) == canonical(full) else full, scripts))
