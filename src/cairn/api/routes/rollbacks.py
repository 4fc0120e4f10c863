"""Rollbacks: previewed, made, undone."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.bodies import RollBack
from cairn.api.guarding import Guarded
from cairn.api.parameters import ById, Cursor, Limit, RollbackId
from cairn.api.wiring import By, CommandId, Services
from cairn.core.errors import Repeated
from cairn.services.views.rollbacks import Rollback, RollbackPage, RollbackPreview

router = APIRouter(prefix="/api/rollback", route_class=Guarded, tags=["Rollback"])


@router.post("/preview")
def preview_rollback(body: RollBack, services: Services) -> RollbackPreview:
    """What a rollback would take away, keep and stop, and how the run would go on."""
    return services.rollbacks.preview(_request(body))


@router.post("", status_code=201)
async def make_rollback(
    body: RollBack, response: Response, services: Services, by: By, command_id: CommandId
) -> Rollback:
    """Go back. What is taken away is archived. The same `rollback_id` again answers with what it did."""
    done = await services.rollbacks.roll_back(_request(body), by=by, command_id=command_id)
    response.headers["Location"] = f"/api/rollback/{done.rollback_id}"
    view = await run_in_threadpool(services.reading.rollback, done.rollback_id)
    return view.model_copy(update={"warnings": [*view.warnings, *done.warnings]})
