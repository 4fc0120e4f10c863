"""One small story, told in every example of the API: a pipeline of three steps, and its second run."""

from cairn.api.examples import notices, operations

REQUESTS = operations.REQUESTS | notices.REQUESTS
RESPONSES = operations.RESPONSES | notices.RESPONSES

__all__ = ["REQUESTS", "RESPONSES"]
