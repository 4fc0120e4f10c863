"""Collects the sentences in the source as templates: every string that a person or a model can read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent.parent.parent / "src" / "cairn"

LOGGERS = {"log", "logger", "logging"}
TRANSPARENT = {"format", "get", "join", "partition", "removeprefix", "strip"}  # they don't label the text
NOT_SHOWN = {"DDL", "cast", "compile", "execute", "like", "startswith", "endswith"}
SQL = re.compile(r"^(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|SET|BEGIN|WITH|REINDEX|VACUUM)\b")
CODE = re.compile(r"\(\?|\\[bsdw]|<[a-z!/]|^\w[\w.]*\[.*\]$|^[^ ]*\{[^}]* [^}]*\}[^ ]*$")
WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? +(\{|[`'\"«(]?[A-Za-z])|\} +[a-z]{2,}")


@dataclass(frozen=True)
class Text:
    """A sentence with its variable parts in braces, and the call or name that uses it."""

    label: str
    template: str
    logged: bool


class _Context(NamedTuple):
    label: str = ""
    logged: bool = False

    def named(self, name: str) -> _Context:
        return self._replace(label=name)

    def below(self, name: str) -> _Context:
        return self._replace(label=f"{self.label} {name}".strip())


def texts_of(folder: str) -> dict[str, list[Text]]:
    """The sentences of a package by module, in source order."""
    root = PACKAGE / folder
    files = sorted(root.rglob("*.py")) if root.is_dir() else [root.with_suffix(".py")]
    modules = {str(file.relative_to(PACKAGE)): _texts(file) for file in files}
    return {module: texts for module, texts in modules.items() if texts}


def listing(modules: dict[str, list[Text]]) -> str:
    """A heading for each module, and a line for each sentence."""
    parts: list[str] = []
    for module, texts in modules.items():
        lines = dict.fromkeys(f"- {text.label}: {_indented(text.template)}" for text in texts)
        parts.append("\n".join([f"## {module}", *lines]))
    return "\n\n".join(parts) + "\n"


def _indented(text: str) -> str:
    return re.sub(r"\n(?=.)", "\n    ", text.strip("\n"))


@cache
def _texts(file: Path) -> list[Text]:
    return list(_walk(ast.parse(file.read_text(encoding="utf-8")), _Context()))


def _walk(node: ast.AST, context: _Context) -> Iterator[Text]:
    if isinstance(node, ast.JoinedStr | ast.Constant) and _is_prose(template := _template(node)):
        yield Text(context.label or "text", template, context.logged)
    for child, inner in _children(node, context):
        yield from _walk(child, inner)


def _children(node: ast.AST, context: _Context) -> Iterator[tuple[ast.AST, _Context]]:
    match node:
        case ast.JoinedStr():
            yield from ((part.value, context) for part in node.values if isinstance(part, ast.FormattedValue))
        case ast.Call():
            name = _called(node)
            if name in NOT_SHOWN:
                return
            inner = context if name in TRANSPARENT else _Context(name, context.logged or _is_log(node))
            yield from ((child, inner) for child in ast.iter_child_nodes(node))
        case ast.keyword(arg=str() as name):
            yield node.value, context.below(name)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield value, context.named(name)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield value, context.named(name)
        case ast.Dict():
            for key, value in zip(node.keys, node.values, strict=True):
                yield value, context.below(ast.unparse(key).strip("'") if key is not None else "")
        case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            inner = context.named(getattr(node, "name", ""))
            yield from ((child, inner) for child in ast.iter_child_nodes(node) if not _is_docstring(child))
        case _:
            yield from ((child, context) for child in ast.iter_child_nodes(node))


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _is_log(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name)):
            return name in LOGGERS
        case _:
            return False


def _is_docstring(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _template(node: ast.JoinedStr | ast.Constant) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(
        "{" + ast.unparse(part.value) + "}" if isinstance(part, ast.FormattedValue) else _template(part)
        for part in node.values
        if isinstance(part, ast.FormattedValue | ast.Constant)
    )


def _is_prose(text: str) -> bool:
    return bool(WORDS.search(text)) and not SQL.search(text) and not CODE.search(text)
