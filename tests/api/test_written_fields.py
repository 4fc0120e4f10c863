"""Every documented field of every request body takes effect or is refused: it is sent, and read back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from cairn.api.examples import action_types as examples
from cairn.runners import Ctx, function
from tests.api.app import BASE, App, Json, form, specification
from tests.api.users import ensure_user

pytestmark = pytest.mark.asyncio(loop_scope="module")
Fields = dict[str, tuple[Any, Any]]  # the expected and the actual value of each field
PASSWORD = "correct horse battery staple"
OWN = {"Origin": BASE}

# Operations whose fields other tests read back, because they need a server of another kind.
ELSEWHERE = {
    "startSignIn": "test_providers.test_a_new_user_gets_the_roles_of_their_groups",
    "finishSignIn": "test_providers.test_a_new_user_gets_the_roles_of_their_groups",
    "testChannel": "test_notifications.test_testing_a_channel_returns_the_delivery",
    **dict.fromkeys(
        (
            "createPipeline",
            "updatePipeline",
            "replaceDefinition",
            "compareDefinition",
            "validateDefinition",
            "addCheckpoint",
            "createCheckpoint",
            "updateCheckpoint",
            "putAgent",
        ),
        "test_written_definitions",
    ),
}
WRITES: dict[str, Callable[[App], Awaitable[Fields]]] = {}


def writes(operation: str) -> Callable[[Callable[[App], Awaitable[Fields]]], Callable[[App], Awaitable[Fields]]]:
    def register(write: Callable[[App], Awaitable[Fields]]) -> Callable[[App], Awaitable[Fields]]:
        WRITES[operation] = write
        return write

    return register


def documented() -> dict[str, list[str]]:
    """The documented fields of the JSON body of each operation."""
    found: dict[str, list[str]] = {}
    for methods in specification()["paths"].values():
        for operation in methods.values():
            schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            if schema is not None:
                found[operation["operationId"]] = sorted(_properties(schema))
    return found


def _properties(schema: Json) -> set[str]:
    if "$ref" in schema:
        return _properties(specification()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    return {*schema.get("properties", {}), *(name for one in schema.get("anyOf", ()) for name in _properties(one))}


async def test_every_operation_with_a_body_is_tried() -> None:
    assert sorted({*WRITES, *ELSEWHERE}) == sorted(documented())


@pytest.mark.parametrize("operation", sorted(set(documented()) - set(ELSEWHERE)))
async def test_every_documented_field_is_honored_or_refused(app: App, operation: str) -> None:
    fields = await WRITES[operation](app)
    assert sorted(fields) == documented()[operation]
    assert {name: read for name, (_, read) in fields.items()} == {name: sent for name, (sent, _) in fields.items()}


def read_back(sent: Json, read: Json, *names: str) -> Fields:
    return {name: (sent[name], read[name]) for name in names or sent}


async def status_of(app: App, method: str, path: str, body: Json) -> int:
    return (await app.client.request(method, path, json=body)).status_code


def name_of(kind: str) -> str:
    return f"{kind}-{uuid4().hex[:8]}"


# ---- people ----------------------------------------------------------------------------------------------
async def group(app: App) -> str:
    return (await app.post("/api/groups", {"name": name_of("group")}, 201))["name"]


def person(**more: Any) -> Json:
    name = name_of("user")
    return {
        "name": name,
        "display_name": f"Display {name}",
        "email": f"{name}@example.com",
        "roles": ["approver"],
        **more,
    }


@writes("createUser")
async def create_user(app: App) -> Fields:
    body = person(groups=[await group(app)])
    await app.post("/api/users", body, 201)
    return read_back(body, await app.get(f"/api/users/{body['name']}"))


@writes("updateUser")
async def update_user(app: App) -> Fields:
    user = await ensure_user(app, "viewer", name=name_of("user"))
    body = {name: value for name, value in person(groups=[await group(app)]).items() if name != "name"}
    await app.put(f"/api/users/{user}", body)
    return read_back(body, await app.get(f"/api/users/{user}"))


@writes("createGroup")
async def create_group(app: App) -> Fields:
    body = {"name": name_of("group"), "description": "On call", "members": [await ensure_user(app, "viewer")]}
    await app.post("/api/groups", body, 201)
    return read_back(body, await app.get(f"/api/groups/{body['name']}"))


@writes("updateGroup")
async def update_group(app: App) -> Fields:
    path = f"/api/groups/{await group(app)}"
    body = {"description": "On call", "members": [await ensure_user(app, "viewer")]}
    await app.put(path, body)
    return read_back(body, await app.get(path))


@writes("createDelegation")
async def create_delegation(app: App) -> Fields:
    now = datetime.now(UTC).replace(microsecond=0)
    body = {
        "from_user": await ensure_user(app, "approver", name=name_of("user")),
        "to_user": await ensure_user(app, "approver", name=name_of("user")),
        "starts_at": (now + timedelta(days=1)).isoformat(),
        "ends_at": (now + timedelta(days=2)).isoformat(),
        "reason": "Holiday",
    }
    read = await app.post("/api/delegations", body, 201)
    times = {name: datetime.fromisoformat(read[name]).isoformat() for name in ("starts_at", "ends_at")}
    return read_back(body, {**read, **times})


@writes("createInvitation")
async def create_invitation(app: App) -> Fields:
    body = person(groups=[await group(app)], valid_hours=5)
    invited = await app.post("/api/invitations", body, 201)
    user = await app.get(f"/api/users/{body['name']}")
    times = [datetime.fromisoformat(invited[name]) for name in ("created_at", "expires_at")]
    return read_back(body, {**user, "valid_hours": (times[1] - times[0]) / timedelta(hours=1)})


@writes("previewInvitation")
async def preview_invitation(app: App) -> Fields:
    body = person()
    invited = await app.post("/api/invitations", body, 201)
    shown = await app.post("/api/invitations/preview", {"token": invited["token"]})
    return {"token": (body["name"], shown["user"])}


@writes("acceptInvitation")
async def accept_invitation(app: App) -> Fields:
    body = person()
    token = (await app.post("/api/invitations", body, 201))["token"]
    async with app.client_for() as client:
        sent = {"token": token, "password": PASSWORD, "display_name": "My own name"}
        session = (await client.post("/api/invitations/accept", json=sent)).json()
        signed_in = await client.post("/api/session", json={"name": body["name"], "password": PASSWORD})
    return {
        "token": (body["name"], session["actor"]),
        "password": (200, signed_in.status_code),
        "display_name": ("My own name", session["display_name"]),
    }


@writes("createToken")
async def create_token(app: App) -> Fields:
    body = {"name": name_of("token"), "user": await ensure_user(app, "editor"), "scopes": ["read"], "valid_days": 3}
    return read_back(body, {**body, **_lifetime(await app.post("/api/tokens", body, 201))})


@writes("createOwnToken")
async def create_own_token(app: App) -> Fields:
    body = {"name": name_of("token"), "scopes": ["read"], "valid_days": 3}
    return read_back(body, _lifetime(await app.post("/api/me/tokens", body, 201)))


def _lifetime(token: Json) -> Json:
    created, expires = (datetime.fromisoformat(token[name]) for name in ("created_at", "expires_at"))
    return {**token, "valid_days": (expires - created).days}


@writes("updateMe")
async def update_me(app: App) -> Fields:
    body = {"display_name": "The admin"}
    await app.put("/api/me", body)
    return read_back(body, await app.get("/api/session"))


@writes("signIn")
async def sign_in(app: App) -> Fields:
    body = person()
    invited = await app.post("/api/invitations", body, 201)
    async with app.client_for() as client:
        await client.post("/api/invitations/accept", json={"token": invited["token"], "password": PASSWORD})
        by_password = await client.post("/api/session", json={"name": body["name"], "password": PASSWORD})
        wrong = await client.post("/api/session", json={"name": body["name"], "password": f"{PASSWORD}!"})
        by_token = await client.post("/api/session", json={"token": "not-a-token"})
    return {
        "name": (body["name"], by_password.json()["actor"]),
        "password": (401, wrong.status_code),
        "token": (401, by_token.status_code),
    }


@writes("changePassword")
async def change_password(app: App) -> Fields:
    body = person()
    invited = await app.post("/api/invitations", body, 201)
    async with app.client_for() as client:
        client.headers.update(OWN)
        await client.post("/api/invitations/accept", json={"token": invited["token"], "password": PASSWORD})
        path, new = "/api/session/password", f"{PASSWORD} again"
        wrong = await client.put(path, json={"current": "wrong", "new": new})
        await client.put(path, json={"current": PASSWORD, "new": new})
        signed_in = await client.post("/api/session", json={"name": body["name"], "password": new})
    return {"current": (True, wrong.status_code >= 400), "new": (200, signed_in.status_code)}


@writes("putSecret")
async def put_secret(app: App) -> Fields:
    name = name_of("secret")
    await app.put(f"/api/secrets/{name}", {"value": "a value"})
    listed = [secret["name"] for secret in (await app.get("/api/secrets", limit=200))["items"]]
    return {"value": (True, name in listed)}


@writes("putTool")
async def put_tool(app: App) -> Fields:
    """Without a server. Its other fields are refused for the web search."""
    pipeline = await app.pipeline()
    name = "web_search"
    grant = (await app.put(f"/api/tools/{name}", {"effect": "sends", "pipelines": [pipeline["pipeline_id"]]}))["grant"]
    sent = {"effect": "sends", "pipelines": [pipeline["pipeline_id"]]}
    refused = {
        "hosts": ["a.example"],
        "url_argument": "url",
        "may_skip_approval": True,
        "error_outcome": "failed",
        "digest": "x",
    }
    statuses = {
        field: await status_of(app, "PUT", f"/api/tools/{name}", {**sent, field: refused[field]}) for field in refused
    }
    await app.client.delete(f"/api/tools/{name}")
    return {**read_back(sent, grant, "effect", "pipelines"), **{field: (422, statuses[field]) for field in refused}}


@writes("putActionType")
async def put_action_type(app: App) -> Fields:
    name, body = name_of("type").lower().replace(" ", "-"), {**examples.put_type_request(), "description": "Ours."}
    body |= {"effect": "sends", "hosts": ["api.example.com"], "reversible": "by: charge", "idempotent": True}
    await app.put(f"/api/actions/types/{name}", body)
    [listed] = [kind for kind in (await app.get("/api/actions/types", limit=200))["items"] if kind["name"] == name]
    shown = {"title": "title_template", "schema": "parameters_schema"}
    schema: Any = body["schema"]
    expected = {**body, "schema": {**schema, "additionalProperties": False}}
    return {field: (value, listed[shown.get(field, field)]) for field, value in expected.items()}


@writes("setSecretUses")
async def set_secret_uses(app: App) -> Fields:
    name, pipeline = name_of("secret"), (await app.pipeline())["pipeline_id"]
    await app.put(f"/api/secrets/{name}", {"value": "a value"})
    body = {"hosts": ["api.bank.example"], "pipelines": [pipeline], "action_types": ["http_request"]}
    await app.put(f"/api/secrets/{name}/uses", body)
    [uses] = [s["uses"] for s in (await app.get("/api/secrets", limit=200))["items"] if s["name"] == name]
    return {field: (value, uses[field]) for field, value in body.items()}


# ---- definitions -----------------------------------------------------------------------------------------
@writes("revertPipeline")
async def revert_pipeline(app: App) -> Fields:
    pipeline = await app.pipeline(pipeline_description="first")
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    await app.put(path, {"pipeline_description": "second"})
    await app.post(f"{path}/revert", {"revision": 1})
    return {"revision": ("first", (await app.get(path))["pipeline_description"])}


@writes("reorderCheckpoints")
async def reorder_checkpoints(app: App) -> Fields:
    pipeline = await app.pipeline(form("a"), form("b"))
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    body = {"checkpoint_order": pipeline["checkpoint_order"][::-1]}
    await app.put(f"{path}/checkpoint-order", body)
    return read_back(body, await app.get(path))


# ---- runs ------------------------------------------------------------------------------------------------
@writes("createRun")
async def create_run(app: App) -> Fields:
    pipeline = await app.pipeline()
    body = {
        "pipeline_id": pipeline["pipeline_id"],
        "input": {"a": [1]},
        "original_prompt": "Do it",
        "start": False,
        "test": True,
    }
    run = await app.get(f"/api/runs/{(await app.post('/api/runs', body, 201))['run_id']}")
    given = await app.get(f"/api/runs/{run['run_id']}/input")
    return read_back(body, {**run, "input": given, "start": run["status"] != "not_started", "test": run["test"]})


@writes("restartRun")
async def restart_run(app: App) -> Fields:
    run = await app.run(await app.pipeline())
    path = f"/api/runs/{run['run_id']}/restart"
    return {"pass_number": (409, await status_of(app, "POST", path, {"pass_number": 7}))}


@writes("setBudget")
async def set_budget(app: App) -> Fields:
    run = await app.run(await app.pipeline())
    body = {"max_cost_usd": 1.5, "max_tokens": 1000, "max_calls": 7}
    await app.put(f"/api/runs/{run['run_id']}/budget", body)
    return read_back(body, (await app.get(f"/api/runs/{run['run_id']}"))["budget"]["run_limits"])


@writes("startExecution")
async def start_execution(app: App) -> Fields:
    pipeline = await app.pipeline(form("a"), form("b"))
    ready: list[Json] = []
    for _ in range(2):
        run = await app.run(pipeline)
        await app.submit_form(run, a="x")
        ready.append(await app.execution(run, 1))
    run, other = ready
    body = {"run_id": run["run_id"], "checkpoint_id": pipeline["checkpoint_order"][1]}
    by_checkpoint = await app.post("/api/executions/start", body)
    by_id = await app.post("/api/executions/start", {"execution_id": other["execution_id"]})
    return {
        "run_id": (run["run_id"], by_checkpoint["run_id"]),
        "checkpoint_id": (body["checkpoint_id"], by_checkpoint["checkpoint_id"]),
        "execution_id": (other["execution_id"], by_id["execution_id"]),
    }


@function("test_written.fail")
async def fail(_: Ctx) -> Any:
    raise ValueError("on purpose")


@writes("retryExecution")
async def retry_execution(app: App) -> Fields:
    run = await app.run(await app.pipeline({"key": "fail", "function": "test_written.fail"}))

    async def failed() -> Json | None:
        e = await app.execution(run)
        return e if e["status"] == "failed" else None

    path = f"/api/executions/{(await app.wait_until(failed))['execution_id']}/retry"
    return {"attempt_number": (409, await status_of(app, "POST", path, {"attempt_number": 7}))}


# ---- decisions -------------------------------------------------------------------------------------------
@function("test_written.refund")
async def refund(ctx: Ctx) -> Any:
    return dict(ctx.propose_action("financial_transaction", {"amount": 9, "currency": "USD"}, "because", 0.9, "high"))


async def pending(app: App, *, kind: str) -> Json:
    """A new pending approval of a kind."""
    checkpoints: dict[str, Json] = {
        "start": form("goals", approve="start"),
        "completion": form("goals", approve="complete"),
        "input": form("goals"),
        "action": {"key": "refund", "function": "test_written.refund", "outputs": ["refund.json"]},
    }
    run = await app.run(await app.pipeline(checkpoints[kind]))
    if kind == "completion":
        await app.submit_form(run, goals="grow")

    async def find() -> Json | None:
        items = (await app.get("/api/approvals", run_id=run["run_id"], kind=kind))["items"]
        return items[0] if items else None

    return await app.wait_until(find)


WRONG_DIGEST = "0" * 64


async def decided(app: App, kind: str, path: str, **body: Any) -> Json:
    """Decide through the execution with the digest and read the last vote."""
    approval = await pending(app, kind=kind)
    url = f"/api/executions/{approval['execution_id']}/{path}"
    stale = await status_of(app, "POST", url, {**body, "digest": WRONG_DIGEST})
    await app.post(url, {**body, "digest": approval["digest"]})
    shown = await app.get(f"/api/approvals/{approval['approval_id']}")
    return {**shown, "stale": stale, "vote": shown["decisions"][-1]}


async def approved(app: App, kind: str, path: str) -> Fields:
    shown = await decided(app, kind, path, feedback="Good")
    other = await pending(app, kind=kind)
    url = f"/api/executions/{other['execution_id']}/{path}"
    return {
        "digest": (409, shown["stale"]),
        "feedback": ("Good", shown["vote"]["feedback"]),
        "modified_params": (422, await status_of(app, "POST", url, {"modified_params": {"amount": 5}})),
    }


@writes("approveStart")
async def approve_start(app: App) -> Fields:
    return await approved(app, "start", "approve-start")


@writes("approveCompletion")
async def approve_completion(app: App) -> Fields:
    return await approved(app, "completion", "approve-complete")


@writes("approveExecution")
async def approve_execution(app: App) -> Fields:
    shown = await decided(app, "action", "approve", feedback="Less", modified_params={"amount": 5})
    return {
        "digest": (409, shown["stale"]),
        "feedback": ("Less", shown["vote"]["feedback"]),
        "modified_params": (5, shown["action"]["approved_parameters"]["amount"]),
    }


async def revised(app: App, path: str) -> Fields:
    shown = await decided(app, "completion", path, feedback="Say more")
    return {"digest": (409, shown["stale"]), "feedback": ("Say more", shown["vote"]["feedback"])}


@writes("reviseExecution")
async def revise_execution(app: App) -> Fields:
    return await revised(app, "revise")


@writes("rejectExecution")
async def reject_execution(app: App) -> Fields:
    return await revised(app, "reject")


@writes("submitForm")
async def submit_form(app: App) -> Fields:
    approval = await pending(app, kind="input")
    url = f"/api/executions/{approval['execution_id']}/submit"
    stale = await status_of(app, "POST", url, {"fields": {"goals": "grow"}, "digest": WRONG_DIGEST})
    await app.post(url, {"fields": {"goals": "grow"}, "digest": approval["digest"]})
    e = await app.get(f"/api/executions/{approval['execution_id']}")
    return {"digest": (409, stale), "fields": ({"goals": "grow"}, e["form"]["values"])}


@writes("decideApproval")
async def decide_approval(app: App) -> Fields:
    action, completion, filled = [await pending(app, kind=kind) for kind in ("action", "completion", "input")]
    paths = [f"/api/approvals/{approval['approval_id']}" for approval in (action, completion, filled)]
    ignored = [
        await status_of(app, "PUT", f"{paths[1]}/approve", {"fields": {"goals": "grow"}}),
        await status_of(app, "PUT", f"{paths[2]}/answer", {"modified_params": {"amount": 5}}),
        await status_of(app, "PUT", f"{paths[1]}/revise", {"feedback": "Say more", "reason": "Say less"}),
    ]
    assert ignored == [422, 422, 422]
    stale = await status_of(app, "PUT", f"{paths[0]}/approve", {"digest": WRONG_DIGEST})
    modified = await app.put(f"{paths[0]}/approve", {"modified_params": {"amount": 5}, "feedback": "Less"})
    rejected = await app.put(f"{paths[1]}/revise", {"reason": "Say more"})
    answered = await app.put(f"{paths[2]}/answer", {"fields": {"goals": "grow"}})
    return {
        "digest": (409, stale),
        "modified_params": (5, modified["action"]["approved_parameters"]["amount"]),
        "feedback": ("Less", modified["decisions"][-1]["feedback"]),
        "reason": ("Say more", rejected["decisions"][-1]["feedback"]),
        "fields": ({"goals": "grow"}, answered["form"]["values"]),
    }


@writes("decideBatch")
async def decide_batch(app: App) -> Fields:
    approvals = [await pending(app, kind="completion") for _ in range(2)]
    items = [{"approval_id": approval["approval_id"]} for approval in approvals]
    items[1]["digest"] = WRONG_DIGEST
    results = await app.post("/api/approvals/batch", {"decision": "revise", "feedback": "Say more", "items": items})
    shown = await app.get(f"/api/approvals/{approvals[0]['approval_id']}")
    vote = shown["decisions"][-1]
    return {
        "decision": ("revise", vote["decision"]),
        "feedback": ("Say more", vote["feedback"]),
        "items": ([False, True], [item["error_message"] is not None for item in results["items"]]),
    }


@writes("previewModification")
async def preview_modification(app: App) -> Fields:
    approval = await pending(app, kind="action")
    path = f"/api/approvals/{approval['approval_id']}/modify"
    shown = await app.put(path, {"modified_params": {"amount": 5}})
    return {"modified_params": (5, shown["parameters"]["amount"])}


@writes("assignApproval")
async def assign_approval(app: App) -> Fields:
    approval = await pending(app, kind="action")
    path = f"/api/approvals/{approval['approval_id']}"
    body = {"assigned_to": [await ensure_user(app, "approver")], "reason": "Knows the customer"}
    shown = await app.put(f"{path}/assign", body)
    events = await app.get("/api/events", run_id=approval["run_id"], event_type="approval_assigned")
    return read_back(body, {**shown, "reason": events["items"][0]["metadata"]["reason"]})


@writes("addComment")
async def add_comment(app: App) -> Fields:
    approval = await pending(app, kind="action")
    shown = await app.post(f"/api/approvals/{approval['approval_id']}/comments", {"text": "Ask Ann"}, 201)
    return {"text": ("Ask Ann", shown["comments"][-1]["text"])}


# ---- models, channels and preferences --------------------------------------------------------------------
@writes("testModel")
async def check_model(app: App) -> Fields:
    found = await app.post("/api/models/test", {"model": "simulated:test"})
    return {"model": ("simulated:test", found["model"])}


async def channel_fields(app: App) -> Json:
    fallback = name_of("fallback")
    await app.post("/api/channels", {"name": fallback, "kind": "email"}, 201)
    return {
        "name": name_of("channel"),
        "is_enabled": False,
        "include_details": False,
        "notification_kinds": ["run_failed"],
        "pipelines": [(await app.pipeline())["pipeline_id"]],
        "fallback": fallback,
    }


async def email_recipients(app: App, **body: Any) -> Fields:
    """Only channels of email have recipients; others refuse them."""
    created = await app.post("/api/channels", {"name": name_of("mail"), "kind": "email", **body}, 201)
    return {"recipients": (["ops@example.com"], created["recipients"])}


@writes("createChannel")
async def create_channel(app: App) -> Fields:
    body = {
        **(await channel_fields(app)),
        "kind": "webhook",
        "url": "https://hooks.example.com/one",
        "signing_key": "0123456789abcdef0123456789abcdef",
    }
    created = await app.post("/api/channels", body, 201)
    read = await app.get(f"/api/channels/{created['channel_id']}")
    return {
        **read_back(body, read, *(body.keys() - {"url", "signing_key"})),
        "url": ("hooks.example.com", read["host"]),
        "signing_key": (None, created["signing_key"]),  # null: Cairn didn't generate one
        **await email_recipients(app, recipients=["ops@example.com"]),
    }


@writes("updateChannel")
async def update_channel(app: App) -> Fields:
    hook = {"name": name_of("hook"), "kind": "webhook", "url": "https://a.example.com/"}
    path = f"/api/channels/{(await app.post('/api/channels', hook, 201))['channel_id']}"
    body = {
        **(await channel_fields(app)),
        "url": "https://hooks.example.com/two",
        "signing_key": "0123456789abcdef0123456789abcdef",
    }
    read = await app.put(path, body)
    mail = await app.post("/api/channels", {"name": name_of("mail"), "kind": "email"}, 201)
    mail_path = f"/api/channels/{mail['channel_id']}"
    mailed = await app.put(mail_path, {"recipients": ["ops@example.com"]})
    return {
        **read_back(body, read, *(body.keys() - {"url", "signing_key"})),
        "url": ("hooks.example.com", read["host"]),
        "signing_key": (422, await status_of(app, "PUT", mail_path, {"signing_key": body["signing_key"]})),
        "recipients": (["ops@example.com"], mailed["recipients"]),
    }


@writes("setPreferences")
async def set_preferences(app: App) -> Fields:
    body = {
        "channels": ["email"],
        "notification_kinds": ["run_failed"],
        "quiet_hours": {"start": "22:00", "end": "07:00", "time_zone": "Europe/Berlin"},
    }
    await app.put("/api/preferences", body)
    read = await app.get("/api/preferences")
    await app.put("/api/preferences", {})
    return read_back(body, read)


# ---- going back ------------------------------------------------------------------------------------------
async def two_runs(app: App) -> list[Json]:
    pipeline = await app.pipeline(form("goals"), form("design"), config={"auto_advance": True})
    runs: list[Json] = []
    for _ in range(2):
        run = await app.run(pipeline)
        await app.submit_form(run, 0, goals="grow")
        await app.submit_form(run, 1, design="blue")
        runs.append(await app.get(f"/api/runs/{run['run_id']}"))
    return runs


async def rolled_back(app: App, path: str, status: int, **more: Any) -> tuple[Json, Json, Fields]:
    """A rollback to an earlier run, by position, and one in its run, by checkpoint."""
    first, second = await two_runs(app)
    body: Json = {
        "rollback_type": "run_level",
        "source_run_id": second["run_id"],
        "target_run_id": first["run_id"],
        "target_checkpoint_position": 0,
        **more,
    }
    made = await app.post(path, body, status)
    (other, _) = await two_runs(app)
    in_run = {
        "rollback_type": "checkpoint_level",
        "source_run_id": other["run_id"],
        "target_checkpoint_id": other["checkpoints"][0]["checkpoint_id"],
    }
    by_id = await app.post(path, in_run, status)
    fields = read_back(body, made, "rollback_type", "source_run_id", "target_run_id", "target_checkpoint_position")
    position = by_id["target_checkpoint_position"]
    return body, made, {**fields, "target_checkpoint_id": (0, position)}


@writes("createRollback")
async def create_rollback(app: App) -> Fields:
    body, made, fields = await rolled_back(
        app, "/api/rollback", 201, user_reason="Wrong goals", rollback_id=str(uuid4())
    )
    return {**fields, **read_back(body, made, "user_reason", "rollback_id")}


@writes("previewRollback")
async def preview_rollback(app: App) -> Fields:
    extra = {"user_reason": "Wrong goals", "rollback_id": str(uuid4())}
    body, made, fields = await rolled_back(app, "/api/rollback/preview", 200, **extra)
    return {**fields, **read_back(body, made, *extra)}


async def completed(app: App) -> list[Json]:
    reads = {"inputs": {"include_checkpoint_outputs": [{"checkpoint_id": "goals"}]}}
    pipeline = await app.pipeline(form("goals"), form("design", **reads), config={"auto_advance": True})
    run = await app.run(pipeline)
    await app.submit_form(run, 0, goals="grow")
    await app.submit_form(run, 1, design="blue")
    return (await app.get(f"/api/runs/{run['run_id']}"))["checkpoints"]


@writes("createRework")
async def create_rework(app: App) -> Fields:
    goals, design = await completed(app)
    body = {"checkpoint": "goals", "prompt": "Name the market", "reason": "Too vague"}
    made = await app.post(f"/api/executions/{design['execution_id']}/rework", body, 201)
    return {
        "checkpoint": (goals["checkpoint_id"], made["checkpoint_id"]),
        **read_back(body, made["regression_context"], "prompt", "reason"),
    }


@writes("previewRework")
async def preview_rework(app: App) -> Fields:
    goals, design = await completed(app)
    body = {"checkpoint": "goals", "prompt": "Name the market", "reason": "Too vague"}
    shown = await app.post(f"/api/executions/{design['execution_id']}/rework/preview", body)
    return {
        "checkpoint": (goals["execution_id"], shown["execution_id"]),
        **read_back(body, shown, "prompt", "reason"),
    }


@writes("rerunExecution")
async def rerun_execution(app: App) -> Fields:
    _, design = await completed(app)
    made = await app.post(f"/api/executions/{design['execution_id']}/rework", {"checkpoint": "goals"}, 201)
    run = {"run_id": made["run_id"]}
    await app.submit_form(run, 0, goals="shrink")
    rerun = await app.post(f"/api/executions/{design['execution_id']}/rerun", {"reason": "It is stale"}, 201)
    return {"reason": ("It is stale", rerun["regression_context"]["reason"])}


# ---- rules -----------------------------------------------------------------------------------------------
SAMPLED = (
    "checkpoints:\n  - name: Approve\n    trigger: { kind: start }\n"
    "    action: { auto_approve: true, audit_sample_percentage: 100 }\n"
)


@writes("reviewAudit")
async def review_audit(app: App) -> Fields:
    pipeline = await app.pipeline(form("goals", approve="start"))
    path = f"/api/pipelines/{pipeline['pipeline_id']}/rules"
    yaml = {"Content-Type": "application/yaml"}
    assert (await app.client.put(path, content=SAMPLED, headers=yaml)).status_code == 200
    await app.run(pipeline)
    [audit] = (await app.get("/api/rules/audits", pipeline_id=pipeline["pipeline_id"]))["items"]
    body = {"agrees": False, "comment": "hm"}
    return read_back(body, (await app.put(f"/api/rules/audits/{audit['approval_id']}", body))["review"])


@writes("setEmergencyStop")
async def set_emergency_stop(app: App) -> Fields:
    body = {"stopped": True, "reason": "Checking"}
    await app.put("/api/rules/emergency-stop", body)
    read = await app.get("/api/rules/emergency-stop")
    await app.put("/api/rules/emergency-stop", {"stopped": False})
    return read_back(body, read)
