"""Response shapes of action types."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect
from cairn.services.view import Page, View


class ActionTypeDetails(View):
    """An action type of the catalogue."""

    name: str
    title: Annotated[str, Field(description="Title without parameters.")]
    title_template: str
    description: str
    parameters_schema: Annotated[
        dict[str, Any] | bool | None, Field(description="JSON Schema of the parameters. Null: any parameters.")
    ]
    effect: ActionEffect
    risk_level: Annotated[RiskLevel, Field(description="Lowest risk level of its actions.")]
    identity: Annotated[
        list[str] | None, Field(description="Parameters that make two actions the same. Null: all parameters.")
    ]
    amount: str | None
    currency: str | None
    hosts: Annotated[list[str] | None, Field(description="Hosts or domains it can reach. Null: any.")]
    executed_by: Annotated[
        Literal["cairn", "proposer", "tool"], Field(description="Who carries out an approved action.")
    ]
    reversible: str
    idempotent: bool
    source: Annotated[
        Literal["built-in", "settings", "admin"],
        Field(description="`settings`: the server's settings, where you change it. `admin`: `PUT` of this type."),
    ]
    declaration: Annotated[
        dict[str, Any] | None, Field(description="The fields that an admin set, if the source is `admin`.")
    ]


class ActionTypePage(Page[ActionTypeDetails]):
    """Action types, by name."""
