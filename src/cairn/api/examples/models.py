"""Model providers, and a test of a model."""

from __future__ import annotations

from typing import Any

from cairn.services.models import ModelList, ModelProvider, ModelTestResult


def _anthropic() -> ModelProvider:
    return ModelProvider(
        name="anthropic",
        is_ready=True,
        is_installed=True,
        requires_key=True,
        has_key=True,
        key_names=["ANTHROPIC_API_KEY"],
        key_source="secret",
        base_url=None,
        hint="",
    )


def _self_hosted() -> ModelProvider:
    return ModelProvider(
        name="company",
        is_ready=True,
        is_installed=True,
        requires_key=False,
        has_key=False,
        key_names=[],
        key_source=None,
        base_url="http://127.0.0.1:8080/v1",
        hint="",
    )


def test_request() -> dict[str, Any]:
    return {"model": "company:qwen3"}


def models() -> ModelList:
    return ModelList(
        default="anthropic:claude-sonnet-5-5",
        is_simulated=False,
        fallbacks=["company:qwen3"],
        prices="genai-prices 0.2.1 (2026-10-30), plus 1 from the settings",
        providers=[_anthropic(), _self_hosted()],
    )


def test_result() -> ModelTestResult:
    return ModelTestResult(
        model="company:qwen3",
        is_simulated=False,
        succeeded=True,
        seconds=0.412,
        answer="ready",
        input_tokens=19,
        output_tokens=2,
        cost_usd=0.0,
        error_type=None,
        error_message=None,
    )
