"""Problem types, error messages, findings and log messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from cairn.api.problems import KINDS
from cairn.definitions import DefinitionError, authoring_schema
from cairn.definitions.checks.shape import check_shape
from cairn.definitions.library_agents import agent_schema
from cairn.definitions.rules import load as load_rules
from cairn.definitions.rules import schema as rules_schema
from cairn.services.notifications import composer
from cairn.store import migrations, tables
from cairn.store.events import descriptions
from tests.definitions import corpus
from tests.definitions.test_rules import FOLDER as RULES
from tests.snapshots.source_texts import PACKAGE, Text, listing, texts_of

# Packages whose sentences have no snapshot of their own.
PACKAGES = ("core", "services", "api", "store", "files", "ports", "adapters", "config", "bootstrap", "worker")


def problems() -> str:
    kinds = "\n".join(f"- {status} {slug}: {title}" for slug, (status, title) in KINDS.items())
    excluded = (*_files(composer, descriptions), *_folders(migrations, tables))
    modules = {
        module: [text for text in texts if not text.logged and not text.label.endswith("description")]
        for package in PACKAGES
        for module, texts in texts_of(package).items()
        if not module.startswith(excluded)
    }
    sentences = listing(_non_empty(modules))
    return f"# Problem types\n\n{kinds}\n\n# Errors and findings\n\n{sentences}"


def definition_findings() -> str:
    """Findings in invalid documents, messages in the schemas, and templates in the source."""
    definitions = {name: _errors_of_definition(name) for name in sorted(corpus.EXPECTED)}
    rules = {path.name: _errors_of_rules(path) for path in sorted((RULES / "invalid").iterdir())}
    agents: dict[str, Any] = {**agent_schema(), "$defs": {}}
    schemas = {"definitions": authoring_schema(), "rules": rules_schema(), "agents": agents}
    modules = {
        module: [text for text in texts if not text.logged]
        for package in ("definitions", "documents")
        for module, texts in texts_of(package).items()
    }
    parts = [
        "# Invalid definitions",
        _shown(definitions),
        "# Invalid rules",
        _shown(rules),
        "# Messages in the schemas",
    ]
    parts += [f"## {name}\n" + "\n".join(_messages(schema)) for name, schema in schemas.items()]
    return "\n\n".join([*parts, "# Messages in the source", listing(_non_empty(modules))])


def _non_empty(modules: Mapping[str, list[Text]]) -> dict[str, list[Text]]:
    return {module: texts for module, texts in modules.items() if texts}


def _errors_of_definition(name: str) -> tuple[str, ...]:
    document, _ = corpus.read_invalid(name)
    return tuple(dict.fromkeys(f"{error.finding.path}: {error.finding.message}" for error in check_shape(document)))


def _errors_of_rules(path: Path) -> tuple[str, ...]:
    with pytest.raises(DefinitionError) as caught:
        load_rules(path.read_bytes())
    return tuple(dict.fromkeys(f"{finding.path}: {finding.message}" for finding in caught.value.findings))


def _shown(documents: Mapping[str, tuple[str, ...]]) -> str:
    return "\n".join(f"{name}\n" + "\n".join(f"    {error}" for error in errors) for name, errors in documents.items())


def _messages(schema: Any, path: str = "") -> Iterator[str]:
    match schema:
        case dict():
            for key, value in cast("dict[str, Any]", schema).items():
                if path and key in ("errorMessage", "$comment") and isinstance(value, str):
                    yield f"- {path}: {value}"
                yield from _messages(value, f"{path}/{key}")
        case list():
            for number, value in enumerate(cast("list[Any]", schema)):
                yield from _messages(value, f"{path}/{number}")
        case _:
            pass


def log_messages() -> str:
    modules: dict[str, list[Text]] = {}
    for path in sorted(PACKAGE.iterdir()):
        if path.is_dir() or path.suffix == ".py":
            for module, texts in texts_of(path.stem).items():
                if logged := [text for text in texts if text.logged]:
                    modules[module] = logged
    return "# Log messages\n\n" + listing(modules)


def module_name(module: object) -> str:
    """The path of a module in the package."""
    return str(Path(str(vars(module)["__file__"])).relative_to(PACKAGE))


def _files(*modules: object) -> tuple[str, ...]:
    return tuple(module_name(module) for module in modules)


def _folders(*packages: object) -> tuple[str, ...]:
    return tuple(str(Path(file).parent) + "/" for file in _files(*packages))
