"""Resolve the paths of conditions: each starts at a root, or at the one root that its rule is about."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cairn.core.conditions import FieldLookup, Root
from cairn.definitions.input_paths import PathError, parse_path

# The fields of roots that every run has.
KNOWN_FIELDS: Mapping[Root, tuple[str, ...]] = {
    Root.RUN: ("id", "version", "is_test", "created_by", "pass_number"),
    Root.PIPELINE: ("id", "name"),
    Root.CHECKPOINT: ("key", "name", "stage", "mode"),
}
_ROOTS = frozenset(map(str, Root))


def has_root(text: str, root: Root) -> bool:
    """Whether the path starts at this root. An invalid path starts at none."""
    try:
        path = parse_path(text)
    except PathError:
        return False
    return path.root == root and bool(path.steps)


def resolve_field(text: str, default: Root | None, checkpoints: Collection[str] = ()) -> FieldLookup:
    """The field at a path. `default` is the root of names without one. Raises PathError.

    A name without a root must not be one of the pipeline's `checkpoints`, because it could mean its output.
    """
    path = parse_path(text)
    if path.is_optional:
        raise PathError(f"remove the `?` from {text!r}: a missing value is unknown")
    if path.root in _ROOTS:
        return _rooted(text, Root(path.root), path.steps)
    if default is None:
        raise PathError(
            f"{text!r} has no root: write `action.{text}` or `result.{text}`, "
            "or add `kind: action` or `kind: completion` to the rule"
        )
    if path.root in checkpoints:
        raise PathError(
            f"{path.root!r} is also the key of a checkpoint: write `outputs.{text}` for its output, "
            f"or `{default}.{text}`"
        )
    return FieldLookup(text, default, (path.root, *path.steps))


def _rooted(text: str, root: Root, steps: tuple[str | int, ...]) -> FieldLookup:
    if len(steps) == 0:
        raise PathError(f"{text!r} is a root: add the name of a field, such as `{root}.{_example(root)}`")
    known = KNOWN_FIELDS.get(root)
    if known is not None and (len(steps) > 1 or steps[0] not in known):
        fields = ", ".join(f"`{root}.{name}`" for name in known)
        raise PathError(f"{text!r} doesn't exist: use {fields}")
    if root is Root.OUTPUTS and not isinstance(steps[0], str):
        raise PathError(f"{text!r} names no checkpoint: write `outputs.KEY.FIELD`")
    return FieldLookup(text, root, steps)


def _example(root: Root) -> str:
    match root:
        case Root.OUTPUTS:
            return "KEY.FIELD"
        case Root.ACTION | Root.INPUT | Root.RESULT:
            return "amount"
        case _:
            return KNOWN_FIELDS[root][0]
