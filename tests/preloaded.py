"""The imports that forked processes start with: everything that a server and the crash tests need."""

# ruff: noqa: F401
# pyright: reportUnusedImport=false
import dbos
import httptools
import uvicorn
import uvloop

import cairn.adapters.jobs.dbos_statements
import cairn.adapters.jobs.dbos_workflows
import cairn.api.app
import cairn.cli.app
import cairn.cli.server
import cairn.cli.settings
import cairn.worker
import tests.chaos.crashes
import tests.chaos.notification_crashes
