"""The code blocks of the docs are correct: definitions load, error messages are exact, JSON parses, Python runs."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

import cairn
from cairn.definitions import DefinitionError, RulesError, load
from cairn.definitions.rules import load as load_rules
from cairn.documents import decode_json, decode_yaml
from cairn.runners import FunctionRegistry, function
from tests.docs.pages import ROOT, Block, blocks, blocks_of, pages


@pytest.fixture(scope="module")
def functions() -> Iterator[frozenset[str]]:
    """The names of Cairn's own functions and of the functions that pages and examples define."""
    importlib.import_module("cairn.runners.samples.functions")
    defined = FunctionRegistry()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cairn, "function", defined)
        import_file(ROOT / "examples" / "invoice_functions.py")
        for block in blocks("python"):
            exec(compile(block.text, str(block), "exec"), {"__name__": block.page.stem})
        yield frozenset([*function, *defined])


def import_file(module: Path) -> None:
    """Import a module of functions from its file."""
    spec = importlib.util.spec_from_file_location(module.stem, module)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def definition(block: Block) -> str:
    """The text of a complete definition. A single checkpoint is put into a pipeline."""
    if block.mark != "checkpoint":
        return block.text
    indented = "".join(f"    {line}" if line.strip() else line for line in block.text.splitlines(keepends=True))
    return f"pipeline_name: Wrapper\ncheckpoints:\n  -\n{indented}"


@pytest.mark.parametrize("block", [block for block in blocks("yaml") if block.mark in ("", "checkpoint")], ids=str)
def test_a_definition_loads(block: Block, functions: frozenset[str]) -> None:
    document, positions = decode_yaml(definition(block))
    assert load(document, positions=positions, functions=functions).warnings == ()


@pytest.mark.parametrize("block", [block for block in blocks("yaml") if block.mark == "wrong"], ids=str)
def test_an_invalid_definition_has_the_shown_errors(block: Block, functions: frozenset[str]) -> None:
    """The next block shows the errors."""
    document, positions = decode_yaml(block.text)
    with pytest.raises(DefinitionError) as error:
        load(document, positions=positions, functions=functions)
    on_page = blocks_of(block.page)
    response = on_page[on_page.index(block) + 1]
    assert (response.language, response.text.strip()) == ("text", str(error.value))


@pytest.mark.parametrize("block", [block for block in blocks("yaml") if block.mark == "rules"], ids=str)
def test_rules_load(block: Block) -> None:
    assert load_rules(block.text).warnings == ()


@pytest.mark.parametrize("block", [block for block in blocks("yaml") if block.mark == "rules wrong"], ids=str)
def test_invalid_rules_have_the_shown_errors(block: Block) -> None:
    """The next block shows the errors."""
    with pytest.raises(RulesError) as error:
        load_rules(block.text)
    on_page = blocks_of(block.page)
    response = on_page[on_page.index(block) + 1]
    assert (response.language, response.text.strip()) == ("text", str(error.value))


def test_every_yaml_block_has_a_known_mark() -> None:
    marks = {"", "checkpoint", "wrong", "rules", "rules wrong"}
    assert [str(block) for block in blocks("yaml") if block.mark not in marks] == []


def test_the_example_of_rules_loads() -> None:
    assert load_rules((ROOT / "examples" / "rules.yaml").read_bytes()).warnings == ()


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_json_parses(block: Block) -> None:
    decode_json(block.text)


def test_the_pipeline_in_the_readme_equals_the_example() -> None:
    shown = [block.text for block in blocks_of(ROOT / "README.md") if block.language == "yaml"]
    assert shown == [(ROOT / "examples" / "release-notes.yaml").read_text()]


def test_every_block_has_a_known_language() -> None:
    """No test would check a block in another language."""
    known = {"sh", "yaml", "json", "python", "text", "toml", "http", "mermaid"}
    assert [str(block) for page in pages() for block in blocks_of(page) if block.language not in known] == []
