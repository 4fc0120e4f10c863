"""An action type: what the catalogue says about the operations of one name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect
from cairn.definitions import JsonSchema

Executor = Literal["cairn", "proposer", "tool"]
TypeSource = Literal["built-in", "settings", "admin", "tool", "pipeline", "undeclared"]


@dataclass(frozen=True, slots=True)
class ActionType:
    name: str
    title: str = ""  # without parameters
    description: str = ""
    schema: JsonSchema | None = None  # closed: it refuses parameters that it doesn't name; None: any parameters
    narrowed_by: tuple[JsonSchema, ...] = ()  # parameters have to match these as well
    effect: ActionEffect = ActionEffect.CHANGES
    risk: RiskLevel = RiskLevel.HIGH  # the lowest risk level of its actions
    identity: tuple[str, ...] | None = None  # parameters or facts that make two actions the same; None: all parameters
    amount: str | None = None  # the parameter with the amount
    currency: str | None = None
    hosts: tuple[str, ...] | None = None  # of requests, or the domains of emails; None: any
    executor: Executor = "proposer"
    reversible: str = "no"  # yes, no, or "by: TYPE"
    is_idempotent: bool = False  # its receiver ignores an idempotency key that it has already processed
    title_template: str = ""
    source: TypeSource = "undeclared"

    @property
    def asks_always(self) -> bool:
        """Whether people always decide, because neither the catalogue nor the pipeline has the type."""
        return self.source == "undeclared"

    @property
    def is_in_catalogue(self) -> bool:
        """Whether admins are responsible for it, so that its risk can be low."""
        return self.source in ("built-in", "settings", "admin", "tool")

    @property
    def offered_schema(self) -> JsonSchema | None:
        """The schema to show to proposers: that of the pipeline, if it has one."""
        return self.narrowed_by[-1] if self.narrowed_by else self.schema

    @property
    def facts(self) -> dict[str, Any]:
        """What rules can read as `action.type`."""
        return {
            "name": self.name,
            "effect": self.effect.value,
            "risk": self.risk.value,
            "source": self.source,
            "reversible": self.reversible,
            "idempotent": self.is_idempotent,
        }


_COMBINATIONS = frozenset({"allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "dependentSchemas"})


def closed(schema: JsonSchema | None) -> JsonSchema | None:
    """The schema, refusing properties that it doesn't name. One that says something about them stays as it is."""
    if not isinstance(schema, dict) or schema.keys() & {"additionalProperties", "unevaluatedProperties"}:
        return schema
    if not schema.keys() & (_COMBINATIONS | {"properties"}):
        return schema
    return {**schema, "unevaluatedProperties" if schema.keys() & _COMBINATIONS else "additionalProperties": False}
