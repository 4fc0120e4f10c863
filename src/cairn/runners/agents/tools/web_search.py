"""`web_search`: the provider's own search, or a search service from the settings. Off by default."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

from pydantic_ai.models import Model
from pydantic_ai.native_tools import WebSearchTool

from cairn.documents import DocumentError, decode_json
from cairn.ports import HttpClient, OutboundError
from cairn.runners.agents.policy import SearchPolicy
from cairn.runners.agents.toolbox import Tool, ToolError, as_data
from cairn.runners.agents.tools.code import ToolNotAvailable
from cairn.runners.agents.tools.held_calls import test_answer

MAX_RESPONSE_BYTES = 2_000_000
TIMEOUT_SECONDS = 20.0
MAX_EXCERPT_CHARACTERS = 1_000


def native_search(model: Model) -> WebSearchTool:
    """The search tool of the model's provider. Raises ToolNotAvailable if the model has none."""
    if WebSearchTool not in model.supported_native_tools():
        raise ToolNotAvailable("web_search is not available: this model has no native search. Choose another model.")
    return WebSearchTool()


def search_tool(policy: SearchPolicy, http: HttpClient | None, *, is_test: bool = False) -> Tool:
    """A tool that queries the search service from the settings, the only place that its queries reach."""
    if http is None or policy.url is None:
        raise ToolNotAvailable("web_search is not available. Ask an admin to set web_search and web_search_url.")
    search = SearchTool(policy, policy.url, http, is_test=is_test)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"query": {"type": "string", "minLength": 1, "maxLength": 400}},
        "required": ["query"],
        "additionalProperties": False,
    }
    return Tool("web_search", "Search the web. Returns titles, URLs and excerpts of pages.", schema, search.use)


class SearchTool:
    def __init__(self, policy: SearchPolicy, url: str, http: HttpClient, *, is_test: bool) -> None:
        self._policy = policy
        self._url = url
        self._http = http
        self._is_test = is_test

    async def use(self, arguments: dict[str, Any]) -> str:
        if self._is_test:
            return test_answer("web_search")
        separator = "&" if "?" in self._url else "?"
        url = f"{self._url}{separator}{urlencode({'q': arguments['query'], 'format': 'json'})}"
        key = self._policy.api_key()
        headers = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        try:
            response = await self._http.request(
                "GET", url, headers=headers, timeout=TIMEOUT_SECONDS, limit=MAX_RESPONSE_BYTES
            )
        except OutboundError as error:
            raise ToolError(f"The search failed: {error}") from None
        if response.status != 200 or not response.is_complete:
            raise ToolError(f"The search failed: the search service returned status {response.status}.")
        try:
            document: Any = decode_json(response.body)
        except DocumentError:
            raise ToolError("The search failed: the response of the search service is not valid JSON.") from None
        texts = [_result_text(result) for result in _results(document)[: self._policy.max_results]]
        return as_data("Search results", "\n\n".join(texts) or "No results.")


def _results(document: Any) -> list[dict[str, Any]]:
    """The results as objects. Services return a list, or an object with `results`."""
    results: Any = cast("dict[str, Any]", document).get("results") if isinstance(document, dict) else document
    if not isinstance(results, list):
        return []
    return [cast("dict[str, Any]", result) for result in cast("list[Any]", results) if isinstance(result, dict)]


def _result_text(result: dict[str, Any]) -> str:
    title, url = str(result.get("title", "")), str(result.get("url", ""))
    text = str(result.get("content") or result.get("snippet") or result.get("description") or "")
    return f"{title}\n{url}\n{text[:MAX_EXCERPT_CHARACTERS]}".strip()
