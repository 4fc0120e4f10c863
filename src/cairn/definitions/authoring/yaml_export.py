"""Export a definition as YAML that can be versioned in git. Applying it again changes nothing."""

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
    """The definition in short forms, without ids, times, versions and defaults.

    Include `scripts`, the texts of its scripts by path, to apply it to another installation.
    """
    full = without_ids(definition).document
    short = shorten(without_ids(definition).document)
    # If the short forms don't expand to exactly this definition, export the full form.
    return encode_yaml(with_texts(short if canonical(expand(short)) == canonical(full) else full, scripts))
