"""One small story, told in every example of the API: a pipeline of three steps, and its second run."""

from cairn.api.examples import agents, models, notices, operations

REQUESTS = operations.REQUESTS | notices.REQUESTS | models.REQUESTS | agents.REQUESTS
RESPONSES = operations.RESPONSES | notices.RESPONSES | models.RESPONSES | agents.RESPONSES

__all__ = ["REQUESTS", "RESPONSES"]
