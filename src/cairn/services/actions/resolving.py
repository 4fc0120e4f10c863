"""Resolve a proposed action to the exact request that people approve and that is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, NamedTuple, cast

from cairn.core.destinations import Destination, is_covered, is_host_covered, parse_url
from cairn.core.states import ActionEffect
from cairn.definitions import PipelineDefinition, check_value
from cairn.documents import DocumentError, decode_json, digest, encode_json
from cairn.documents.pointers import child
from cairn.ports import ProposesAction
from cairn.ports.own_addresses import OwnAddresses
from cairn.services.actions import emails, requests, secret_references
from cairn.services.actions.action_type import ActionType
from cairn.services.actions.catalogue import TOOL_PREFIX, Catalogue, is_type_name
from cairn.services.actions.identity import identity_bytes
from cairn.services.actions.summaries import short_summary
from cairn.services.actions.templates import find
from cairn.services.actions.titles import fill_title
from cairn.services.secret_uses import NO_USES, SecretUse
from cairn.services.secrets import uses_of
from cairn.store import Connection, LoadedRun, NewArtifact

MAX_BYTES = 256 * 1024  # of the parameters, and of the request without attachments
MAX_DEPTH = 50
HTTP, EMAIL = "http_request", "send_email"
Errors = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ActionRefusal:
    """Why an action can't be proposed or sent, as paths in its parameters and messages."""

    operation: str
    errors: Errors

    @property
    def message(self) -> str:
        texts = (f"{path}: {text}" if path else text for path, text in self.errors)
        return f"The proposed action {self.operation} is invalid: {'; '.join(texts)}"


@dataclass(frozen=True, slots=True)
class ResolvedAction:
    """A valid action: the request as it will be sent, and what is known about it."""

    type: ActionType  # its effect is that of this request
    parameters: dict[str, Any]  # as proposed; a modification changes these
    content: dict[str, Any]
    content_digest: str  # covers every byte that is sent
    call_digest: str  # of the proposal, before anything was resolved
    identity: bytes  # equal for actions that are the same act
    facts: Mapping[str, Any]  # for rules; they win over parameters of the same name
    amount: Decimal | None
    currency: str | None
    secrets: tuple[str, ...]
    summary: str  # one line


@dataclass(slots=True)
class Draft:
    """What resolving an action has found so far."""

    content: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    destination: Destination | None = None
    effect: ActionEffect | None = None
    errors: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


class ServerSecrets(NamedTuple):
    """The secrets in the settings of an MCP server."""

    names: tuple[str, ...]
    url: str | None  # None: a program on this machine


class ActionResolver:
    def __init__(
        self,
        catalogue: Catalogue,
        own_addresses: OwnAddresses,
        server_secrets: Mapping[str, ServerSecrets] | None = None,
    ) -> None:
        """`server_secrets` are those of the MCP servers, by name. A call of a tool uses them, too."""
        self._catalogue = catalogue
        self._own_addresses = own_addresses
        self._server_secrets = server_secrets or {}

    def resolve(
        self,
        connection: Connection,
        definition: PipelineDefinition,
        loaded: LoadedRun,
        proposed: ProposesAction,
        *,
        staged: Sequence[NewArtifact] = (),
        earlier: Mapping[str, Any] | None = None,
    ) -> ResolvedAction | ActionRefusal:
        """Resolve a proposal, or a modification of one.

        `staged`: artifacts that are saved with the proposal. `earlier`: the content that is modified, whose attachments
        keep their contents.
        """
        name = proposed.operation_type
        if not is_type_name(name):
            return ActionRefusal(name[:100], (("", "A name consists of a-z, 0-9 and _ . : / - only."),))
        parameters = _plain(proposed.parameters)
        if isinstance(parameters, tuple):
            return ActionRefusal(name, (parameters,))
        action = self._catalogue.find(connection, definition, name)
        errors = _schema_errors(action, parameters)
        if errors:
            return ActionRefusal(name, errors)
        draft = self._draft(connection, loaded, action, parameters, [*staged, *_files(proposed)], earlier)
        if not draft.errors:
            use = (loaded.facts.pipeline_id, action, draft.content, draft.destination)
            draft.errors += self._refusals(connection, *use)
        if not draft.errors and len(encode_json(draft.content)) > MAX_BYTES:
            draft.errors.append(("", f"The request is larger than {MAX_BYTES // 1024} KB."))
        if draft.errors:
            return ActionRefusal(name, tuple(dict.fromkeys(draft.errors)))
        return _resolved(action, parameters, draft, instance_of(proposed))

    def check(
        self,
        connection: Connection,
        definition: PipelineDefinition,
        loaded: LoadedRun,
        operation: str,
        content: Mapping[str, Any],
        facts: Mapping[str, Any],
    ) -> ActionRefusal | None:
        """Check before the start that the type, the hosts and the secrets of a resolved action are still allowed."""
        action = self._catalogue.find(connection, definition, operation)
        if action.asks_always and facts["type"]["source"] != action.source:
            return ActionRefusal(operation, (("", "This action type was removed."),))
        errors = self._refusals(connection, loaded.facts.pipeline_id, action, content, _destination(content))
        return ActionRefusal(operation, tuple(errors)) if errors else None

    def _draft(
        self,
        connection: Connection,
        loaded: LoadedRun,
        action: ActionType,
        parameters: dict[str, Any],
        staged: Sequence[NewArtifact | emails.StagedFile],
        earlier: Mapping[str, Any] | None,
    ) -> Draft:
        if action.name == HTTP:
            request = requests.resolve_request(parameters)
            return Draft(
                request.content,
                destination=request.destination,
                effect=requests.effect_of(request.content),
                errors=request.errors,
            )
        if action.name == EMAIL:
            found = emails.attachments(connection, loaded.facts.run_id, parameters, staged, earlier or {})
            email = emails.resolve_email(parameters, found)
            return Draft(email.content, {"recipients": email.recipients}, errors=email.errors)
        return Draft(parameters, destination=_destination(parameters))

    def _refusals(
        self,
        connection: Connection,
        pipeline_id: str,
        action: ActionType,
        content: Mapping[str, Any],
        destination: Destination | None,
    ) -> list[tuple[str, str]]:
        """What the catalogue, the server or the secrets don't allow."""
        errors = list(_host_errors(action, content, destination))
        if destination is not None and self._own_addresses.has_name(destination.host, destination.port):
            errors.append(("/url", f"{destination.origin} is an address of Cairn itself. Actions can't reach it."))
        errors += _misplaced_secrets(action, content)
        wanted = [(name, SecretUse(pipeline_id, action.name, destination)) for name in _secrets_in(action, content)]
        wanted += self._uses_of_server(pipeline_id, action)
        uses = uses_of(connection, {name for name, _ in wanted}) if wanted else {}
        errors += [("", _use_refused(name, use)) for name, use in wanted if not uses.get(name, NO_USES).allow(use)]
        return errors

    def _uses_of_server(self, pipeline_id: str, action: ActionType) -> list[tuple[str, SecretUse]]:
        """The secrets that the server of a tool gets when it starts."""
        if action.executor != "tool":
            return []
        server = action.name.partition("/")[0]
        secrets = self._server_secrets.get(server.removeprefix(TOOL_PREFIX))
        if secrets is None:
            return []
        use = SecretUse(pipeline_id, server, _destination({"url": secrets.url}))
        return [(name, use) for name in secrets.names]


def _use_refused(name: str, use: SecretUse) -> str:
    target = f" to {use.destination.origin}" if use.destination is not None else ""
    return (
        f"The secret {name} can't be used for {use.action_type}{target} in this pipeline. An admin can allow it with"
        f" `cairn secrets allow {name}`."
    )


def instance_of(proposed: ProposesAction) -> str:
    """The name that a script gives to an intended second action."""
    return getattr(proposed, "instance", None) or ""


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any] | tuple[str, str]:
    """The parameters as plain JSON, or an error."""
    try:
        content = encode_json(dict(parameters))
        if len(content) > MAX_BYTES:
            return "", f"The parameters are larger than {MAX_BYTES // 1024} KB."
        return cast("dict[str, Any]", decode_json(content, max_depth=MAX_DEPTH))
    except DocumentError as error:
        return error.path or "", f"{error.message[:1].upper()}{error.message[1:]}."


def _schema_errors(action: ActionType, parameters: dict[str, Any]) -> Errors:
    schemas = (action.schema, *action.narrowed_by)
    violations = [v for schema in schemas if schema is not None for v in check_value(schema, parameters)]
    return tuple((v.path, v.message) for v in dict.fromkeys(violations))


def _files(proposed: ProposesAction) -> list[emails.StagedFile]:
    return [emails.StagedFile.of(file) for file in proposed.artifacts]


def _destination(content: Mapping[str, Any]) -> Destination | None:
    """The destination that a parameter `url` names."""
    url = content.get("url")
    try:
        return parse_url(url) if isinstance(url, str) else None
    except ValueError:
        return None


def _host_errors(
    action: ActionType, content: Mapping[str, Any], destination: Destination | None
) -> Iterator[tuple[str, str]]:
    if action.hosts is None:
        return
    allowed = ", ".join(action.hosts) or "none"
    if action.name == EMAIL:
        for kind in emails.RECIPIENTS:
            for index, address in enumerate(content.get(kind, [])):
                if not is_host_covered(action.hosts, address.rpartition("@")[2]):
                    yield child(f"/{kind}", index), f"{address} is not allowed. Allowed domains: {allowed}."
    elif destination is None:
        yield "/url", f"`url` is required, because {action.name} is limited to these hosts: {allowed}."
    elif not is_covered(action.hosts, destination):
        yield "/url", f"{destination.origin} is not allowed. Allowed hosts: {allowed}."


def _misplaced_secrets(action: ActionType, content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    allowed = _secret_places(action, content)
    for name, value in content.items():
        for path in secret_references.misplaced(value, child("", name), allows_references=name in allowed):
            if action.executor == "proposer":
                yield path, f"Cairn doesn't send {action.name} itself, so it can't fill in a secret."
            else:
                yield path, f"A secret is allowed only as {secret_references.FORMS}."


def _secret_places(action: ActionType, content: Mapping[str, Any]) -> frozenset[str]:
    """The parameters in which secrets are filled in."""
    if action.executor == "tool":
        return frozenset(content)
    return frozenset({"headers", "json"}) if action.name == HTTP else frozenset()


def _secrets_in(action: ActionType, content: Mapping[str, Any]) -> tuple[str, ...]:
    places = _secret_places(action, content)
    found = {name for place in places if place in content for name in secret_references.references(content[place])}
    return tuple(sorted(found))


def _resolved(action: ActionType, parameters: dict[str, Any], draft: Draft, instance: str) -> ResolvedAction:
    content = draft.content
    sent = emails.without_records(content) if action.name == EMAIL else content
    facts = {**draft.facts, "type": action.facts}
    if draft.destination is not None:
        facts |= {"host": draft.destination.host, "origin": draft.destination.origin, "path": draft.destination.path}
    if draft.effect is not None:
        action = replace(action, effect=draft.effect)
        facts["type"] = action.facts
    call = {"operation": action.name, "parameters": parameters, "instance": instance}
    return ResolvedAction(
        type=action,
        parameters=parameters,
        content=content,
        content_digest=digest({"operation": action.name, "content": sent}),
        call_digest=digest(cast("Any", call)),
        identity=identity_bytes(action, sent, facts, instance),
        facts=facts,
        amount=_amount(action, content),
        currency=_currency(action, content),
        secrets=_secrets_in(action, content),
        summary=summary_of(action, content, facts),
    )


def summary_of(action: ActionType, content: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """The action in one line, from the template of its type."""
    title = fill_title(action.title_template, facts, content) if action.title_template else None
    return title or action.title or short_summary(action.name)


def _amount(action: ActionType, content: Mapping[str, Any]) -> Decimal | None:
    value = _at(content, action.amount)
    return Decimal(repr(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _currency(action: ActionType, content: Mapping[str, Any]) -> str | None:
    value = _at(content, action.currency)
    return value if isinstance(value, str) else None


def _at(content: Mapping[str, Any], path: str | None) -> Any:
    try:
        return None if path is None else find(content, path)
    except LookupError:
        return None
