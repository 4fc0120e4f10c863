"""Models and their providers, as they are shown. No key is ever among it."""

from __future__ import annotations

from pydantic import Field

from cairn.services.view import View


class ModelProvider(View):
    name: str = Field(description="What stands before the colon in the names of its models.")
    is_ready: bool = Field(description="Whether nothing is missing to ask it.")
    is_installed: bool = Field(description="Whether its client is installed here.")
    wants_key: bool = Field(description="Whether it has to be given a key.")
    has_key: bool = Field(description="Whether there is one.")
    key_names: list[str] = Field(description="Environment variables, or secrets, that hold it.")
    key_source: str | None = Field(description="Where it was found: `secret` or `environment`.")
    base_url: str | None = Field(description="Its address, where the settings give one.")
    remedy: str = Field(description="What to do if it is not ready.")


class ModelList(View):
    default: str = Field(description="The model of agents that name none.")
    is_simulated: bool = Field(description="Whether that is the built-in model: no provider is asked.")
    fallbacks: list[str] = Field(description="Models to take in turn when one cannot be had.")
    prices: str = Field(description="Whose prices costs are counted by, and of when.")
    providers: list[ModelProvider]


class ModelTestResult(View):
    model: str = Field(description="The model that was asked.")
    is_simulated: bool
    works: bool
    seconds: float = Field(description="How long it took.")
    answer: str = Field(description="What it said.")
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None = Field(description="Null if nobody knows its price.")
    fault: str | None = Field(description="What kind of fault it was.")
    message: str | None = Field(description="The fault in words, and what to do.")
