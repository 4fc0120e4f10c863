"""What the errors of providers mean, in plain words with what to do. Nothing here repeats a key."""

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

LONGEST = 300  # characters of a provider's own words
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
    """None: it is no provider's fault."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, BaseExceptionGroup):
        faults = [
            found for one in cast("tuple[BaseException, ...]", error.exceptions) if (found := explain(one, model))
        ]
        return next((fault for fault in faults if not fault.is_transient), faults[0] if faults else None)
    from pydantic_ai import exceptions as e

    match error:
        case e.ModelAPIError():
            return _of_provider(error, model)
        case e.ContentFilterError():
            return refusal(model)
        case e.IncompleteToolCall():
            return _fault(
                Kind.BAD_ANSWER,
                model,
                "the answer ended in the middle of a tool call, at the most tokens that it may have:"
                " raise max_tokens, or ask for less at once.",
            )
        case e.UsageLimitExceeded():
            words = str(error).partition(". Consider")[0].rstrip(".")
            return _fault(Kind.BAD_ANSWER, model, f"it asked again and again without coming to an end ({words}).")
        case e.UnexpectedModelBehavior():
            return _fault(Kind.BAD_ANSWER, model, f"the answer cannot be used: {_cut(error.message)}")
        case e.UserError():
            return _fault(Kind.NOT_CONFIGURED, model, f"it cannot be asked like this: {_cut(error.message)}")
        case _:
            return _of_transport(error, model)


def refusal(model: str) -> ModelError:
    return _fault(
        Kind.REFUSAL,
        model,
        "the model, or a filter of the provider's, refused to answer: change what is asked, or take another model.",
    )


def _of_provider(error: ModelAPIError, model: str) -> ModelError:
    from pydantic_ai import exceptions as e

    status = error.status_code if isinstance(error, e.ModelHTTPError) else None
    code = f" ({status})" if status else ""
    match error:
        case e.ModelQuotaExceededError():
            text = "the account at the provider has nothing left: add credit there, or raise its limit."
            return _fault(Kind.QUOTA, model, text)
        case e.ModelRateLimitError():
            wait = f"; it asks to wait {error.retry_after:g} s" if error.retry_after else ""
            text = f"too many requests or tokens in a short time{code}{wait}. A higher limit is the provider's to give."
            return _fault(Kind.RATE_LIMIT, model, text, error.retry_after)
        case e.ModelUnavailableError():
            text = f"the provider is overloaded or away for a moment{code}. Try again later."
            return _fault(Kind.OVERLOAD, model, text, error.retry_after)
        case e.ModelServerError():
            text = f"the provider had a fault of its own{code}. Try again later."
            return _fault(Kind.OVERLOAD, model, text, error.retry_after)
        case e.ModelTimeoutError() | e.ModelRequestTimeout():
            return timeout(model)
        case e.ModelConnectionError():
            return _network(model, error)
        case _ if status is None and isinstance(error.__cause__, json.JSONDecodeError | UnicodeDecodeError):
            return _fault(Kind.NETWORK, model, "the answer could not be read: it is not what the provider speaks.")
        case _:
            return _of_request(error, model, status)


def _of_request(error: ModelAPIError, model: str, status: int | None) -> ModelError:
    """What the same request will meet again."""
    from pydantic_ai import exceptions as e

    said = _said(error)
    code = f" ({status})" if status else ""
    match error:
        case e.ModelAuthenticationError():
            return _of_key(model, status)
        case e.ModelNotFoundError():
            hint = getattr(error, "suggested_model_id", None)
            meant = f" Did you mean {hint}?" if hint else " Check its name, and the base_url if one is set."
            return _fault(Kind.NOT_FOUND, model, f"the provider does not know this model{code}.{meant}")
        case e.ModelContextWindowExceededError():
            return _too_long(model, said)
        case _ if status == 413 or (status is not None and status < 500 and _TOO_LONG.search(said)):
            return _too_long(model, said)
        case _ if status == 408:
            return timeout(model)
        case _ if status is None:
            return _network(model, error)
        case _:
            return _fault(
                Kind.REJECTED, model, f"the provider does not accept the request{code}: {said or 'no reason'}"
            )


def timeout(model: str) -> ModelError:
    return _fault(
        Kind.TIMEOUT,
        model,
        "no answer in time. Try again later; a slow model may need a longer model_timeout_seconds.",
    )


def broken_off(model: str) -> ModelError:
    return _fault(Kind.NETWORK, model, "the answer broke off before its end. Try again.")


def _of_key(model: str, status: int | None) -> ModelError:
    if status == 403:
        return _fault(Kind.AUTHENTICATION, model, "the key may not be used for this (403): see its rights there.")
    return _fault(Kind.AUTHENTICATION, model, f"the provider does not accept the key ({status or 401}): set a new one.")


def _too_long(model: str, said: str) -> ModelError:
    words = f" ({said})" if said else ""
    return _fault(
        Kind.CONTEXT_TOO_LONG,
        model,
        f"the request is longer than the model can take{words}: give it less to read, have references summarised"
        " (use_summarization), or take a model with a larger window.",
    )


def _network(model: str, error: BaseException) -> ModelError:
    root: BaseException = error
    while root.__cause__ is not None or root.__context__ is not None:
        root = root.__cause__ or cast("BaseException", root.__context__)
    number = root.errno if isinstance(root, OSError) else None
    words = os.strerror(number) if number else _cut(str(root)) or type(root).__name__
    return _fault(
        Kind.NETWORK, model, f"the provider cannot be reached ({words}). See to the network, a proxy, the base_url."
    )


def _of_transport(error: BaseException, model: str) -> ModelError | None:
    """Errors of the HTTP clients themselves, where the agent library lets them through."""
    module = type(error).__module__.partition(".")[0]
    if module not in ("httpx", "httpx2", "httpcore", "httpcore2", "anyio"):
        return None
    return timeout(model) if "Timeout" in type(error).__name__ else _network(model, error)


def _fault(kind: Kind, model: str, words: str, retry_after: float | None = None) -> ModelError:
    return ModelError(kind, f"{model}: {words}", model=model, retry_after=retry_after)


# ---- a provider's own words ------------------------------------------------------------------------------
def _said(error: ModelAPIError) -> str:
    body = error.body
    if isinstance(body, bytes | str):
        return "" if str(body).lstrip().startswith("<") else _cut(str(body))
    found = _message(cast("Mapping[str, Any]", body)) if isinstance(body, Mapping) else ""
    return _cut(found or ("" if body else error.message))


def _message(body: Mapping[str, Any]) -> str:
    """Wherever a provider puts it."""
    inner: Any = body.get("error", body)
    if isinstance(inner, str):
        return inner
    message: Any = cast("Mapping[str, Any]", inner).get("message") if isinstance(inner, Mapping) else None
    return message if isinstance(message, str) else ""


def _cut(text: str) -> str:
    """One line, not too long, without anything that looks like a key."""
    line = _KEY_LIKE.sub(MASKED, " ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
