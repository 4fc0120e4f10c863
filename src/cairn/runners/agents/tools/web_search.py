"""`web_search`: by the provider's own tool, or at an address that the settings name; off unless they say so."""

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

LARGEST = 2_000_000  # bytes of an answer
SECONDS = 20.0
SHOWN = 1_000  # characters of one result


def native_search(model: Model) -> WebSearchTool:
    """ToolNotAvailable where the model has none."""
    if WebSearchTool not in model.supported_native_tools():
        raise ToolNotAvailable("web_search cannot be used: this model has no search of its own. Take another model.")
    return WebSearchTool()


def search_tool(rules: SearchPolicy, web: HttpClient | None) -> Tool:
    if web is None or rules.url is None:
        raise ToolNotAvailable("web_search cannot be used: let an admin set web_search and web_search_url.")
    search = SearchTool(rules, rules.url, web)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"query": {"type": "string", "minLength": 1, "maxLength": 400}},
        "required": ["query"],
        "additionalProperties": False,
    }
    return Tool("web_search", "Search the web: titles, addresses and excerpts of pages.", schema, search.use)


class SearchTool:
    def __init__(self, rules: SearchPolicy, url: str, web: HttpClient) -> None:
        self._rules = rules
        self._url = url
        self._web = web

    async def use(self, given: dict[str, Any]) -> str:
        joined = "&" if "?" in self._url else "?"
        url = f"{self._url}{joined}{urlencode({'q': given['query'], 'format': 'json'})}"
        key = self._rules.key()
        headers = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        try:
            answer = await self._web.request("GET", url, headers=headers, timeout=SECONDS, limit=LARGEST)
        except OutboundError as error:
            raise ToolError(f"The search did not work: {error}") from None
        if answer.status != 200 or not answer.is_whole:
            raise ToolError(f"The search did not work: it answered with status {answer.status}.")
        try:
            found: Any = decode_json(answer.body)
        except DocumentError:
            raise ToolError("The search did not work: its answer is no JSON.") from None
        lines = [_told(one) for one in _results(found)[: self._rules.results]]
        return as_data("What was found", "\n\n".join(lines) or "Nothing.")


def _results(found: Any) -> list[dict[str, Any]]:
    listed: Any = cast("dict[str, Any]", found).get("results") if isinstance(found, dict) else found
    if not isinstance(listed, list):
        return []
    return [cast("dict[str, Any]", one) for one in cast("list[Any]", listed) if isinstance(one, dict)]


def _told(one: dict[str, Any]) -> str:
    title, url = str(one.get("title", "")), str(one.get("url", ""))
    text = str(one.get("content") or one.get("snippet") or one.get("description") or "")
    return f"{title}\n{url}\n{text[:SHOWN]}".strip()
