"""Explain errors of providers and suggest what to do. Messages never contain keys."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from cairn.ports.models import ModelError
from cairn.ports.models import ModelErrorKind as Kind

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError

MAX_MESSAGE_LENGTH = 300
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|prompt is too long|too many (input )?tokens|maximum number of tokens"
    r"|input (is )?too (long|large)|request too large",
    re.IGNORECASE,
)
_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|api|key|gsk|xai|hf|AIza)[-_][A-Za-z0-9*_.-]{6,}|\bAIza[\w-]{10,}|(?i:bearer)\s+\S+"
)
MASKED = "•••"


def explain(error: BaseException, model: str) -> ModelError | None:
    """Turn the exception of a model call into a ModelError. None if it does not come from a provider."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, BaseExceptionGroup):
        inner_errors = cast("tuple[BaseException, ...]", error.exceptions)
        explained = [model_error for inner in inner_errors if (model_error := explain(inner, model))]
        permanent = (model_error for model_error in explained if not model_error.is_transient)
        return next(permanent, explained[0] if explained else None)
    from pydantic_ai import exceptions

    match error:
        case exceptions.ModelAPIError():
            return _explain_api_error(error, model)
        case exceptions.ContentFilterError():
            return refusal_error(model)
        case exceptions.IncompleteToolCall():
            return _error(
                Kind.BAD_ANSWER,
                model,
                "the answer reached the token limit in the middle of a tool call. Increase max_tokens, or request less"
                " output at once.",
            )
        case exceptions.UsageLimitExceeded():
            limit = str(error).partition(". Consider")[0].rstrip(".")
            return _error(Kind.BAD_ANSWER, model, f"the model made too many requests without a result ({limit}).")
        case exceptions.UnexpectedModelBehavior():
            return _error(Kind.BAD_ANSWER, model, f"the answer is invalid: {_one_line(error.message)}")
        case exceptions.UserError():
            return _error(Kind.NOT_CONFIGURED, model, f"the request is not supported: {_one_line(error.message)}")
        case _:
            return _explain_transport_error(error, model)


def refusal_error(model: str) -> ModelError:
    return _error(
        Kind.REFUSAL,
        model,
        "the model or the provider's content filter refused to answer. Change the prompt, or use another model.",
    )


def _explain_api_error(error: ModelAPIError, model: str) -> ModelError:
    from pydantic_ai import exceptions

    status = error.status_code if isinstance(error, exceptions.ModelHTTPError) else None
    code = f" ({status})" if status else ""
    match error:
        case exceptions.ModelQuotaExceededError():
            text = "the account's quota at the provider is used up. Add credit, or raise its limit."
            return _error(Kind.QUOTA, model, text)
        case exceptions.ModelRateLimitError():
            wait = f" Retry after {error.retry_after:g} s." if error.retry_after else ""
            text = f"the provider's rate limit is exceeded{code}.{wait} Ask the provider for a higher limit."
            return _error(Kind.RATE_LIMIT, model, text, error.retry_after)
        case exceptions.ModelUnavailableError():
            text = f"the provider is overloaded or unavailable{code}. Try again later."
            return _error(Kind.OVERLOAD, model, text, error.retry_after)
        case exceptions.ModelServerError():
            text = f"the provider had an internal error{code}. Try again later."
            return _error(Kind.OVERLOAD, model, text, error.retry_after)
        case exceptions.ModelTimeoutError() | exceptions.ModelRequestTimeout():
            return timeout_error(model)
        case exceptions.ModelConnectionError():
            return _network_error(model, error)
        case _ if status is None and isinstance(error.__cause__, json.JSONDecodeError | UnicodeDecodeError):
            return _error(
                Kind.NETWORK,
                model,
                "the response could not be parsed. Check the base_url and the kind of the provider.",
            )
        case _:
            return _explain_request_error(error, model, status)


def _explain_request_error(error: ModelAPIError, model: str, status: int | None) -> ModelError:
    """Explain errors that the same request would cause again."""
    from pydantic_ai import exceptions

    detail = _provider_message(error)
    code = f" ({status})" if status else ""
    match error:
        case exceptions.ModelAuthenticationError():
            return _key_error(model, status)
        case exceptions.ModelNotFoundError():
            hint = getattr(error, "suggested_model_id", None)
            suggestion = f" Did you mean {hint}?" if hint else " Check its name, and the base_url if one is set."
            return _error(Kind.NOT_FOUND, model, f"the provider does not know this model{code}.{suggestion}")
        case exceptions.ModelContextWindowExceededError():
            return _context_error(model, detail)
        case _ if status == 413 or (status is not None and status < 500 and _TOO_LONG.search(detail)):
            return _context_error(model, detail)
        case _ if status == 408:
            return timeout_error(model)
        case _ if status is None:
            return _network_error(model, error)
        case _:
            return _error(
                Kind.REJECTED, model, f"the provider rejected the request{code}: {detail or 'no reason given'}"
            )


def timeout_error(model: str) -> ModelError:
    return _error(
        Kind.TIMEOUT,
        model,
        "the request timed out. Try again later. For a slow model, increase model_timeout_seconds.",
    )


def incomplete_response(model: str) -> ModelError:
    return _error(Kind.NETWORK, model, "the connection closed before the answer was complete. Try again.")


def _key_error(model: str, status: int | None) -> ModelError:
    if status == 403:
        return _error(
            Kind.AUTHENTICATION,
            model,
            "the API key has no permission for this request (403). Check its permissions at the provider.",
        )
    return _error(Kind.AUTHENTICATION, model, f"the provider rejected the API key ({status or 401}). Set a valid key.")


def _context_error(model: str, detail: str) -> ModelError:
    quoted = f" ({detail})" if detail else ""
    return _error(
        Kind.CONTEXT_TOO_LONG,
        model,
        f"the request exceeds the model's context window{quoted}. Reduce the inputs, let references be summarized"
        " (use_summarization), or use a model with a larger context window.",
    )


def _network_error(model: str, error: BaseException) -> ModelError:
    root: BaseException = error
    while root.__cause__ is not None or root.__context__ is not None:
        root = root.__cause__ or cast("BaseException", root.__context__)
    number = root.errno if isinstance(root, OSError) else None
    reason = os.strerror(number) if number else _one_line(str(root)) or type(root).__name__
    return _error(
        Kind.NETWORK,
        model,
        f"the provider can't be reached ({reason}). Check the network, the proxy settings and the base_url.",
    )


def _explain_transport_error(error: BaseException, model: str) -> ModelError | None:
    """Explain HTTP client errors that pydantic-ai does not wrap."""
    module = type(error).__module__.partition(".")[0]
    if module not in ("httpx", "httpx2", "httpcore", "httpcore2", "anyio"):
        return None
    return timeout_error(model) if "Timeout" in type(error).__name__ else _network_error(model, error)


def _error(kind: Kind, model: str, message: str, retry_after: float | None = None) -> ModelError:
    return ModelError(kind, f"{model}: {message}", model=model, retry_after=retry_after)


# Messages of providers
def _provider_message(error: ModelAPIError) -> str:
    body = error.body
    if isinstance(body, bytes | str):
        return "" if str(body).lstrip().startswith("<") else _one_line(str(body))
    message = _message_in(cast("Mapping[str, Any]", body)) if isinstance(body, Mapping) else ""
    return _one_line(message or ("" if body else error.message))


def _message_in(body: Mapping[str, Any]) -> str:
    inner: Any = body.get("error", body)
    if isinstance(inner, str):
        return inner
    message: Any = cast("Mapping[str, Any]", inner).get("message") if isinstance(inner, Mapping) else None
    return message if isinstance(message, str) else ""


def _one_line(text: str) -> str:
    """Shorten to one line and mask anything that looks like a key."""
    line = _KEY_LIKE.sub(MASKED, " ".join(text.split()))
    return line if len(line) <= MAX_MESSAGE_LENGTH else f"{line[: MAX_MESSAGE_LENGTH - 1]}…"
