"""What people are told outside: channels, notices, and each delivery with its tries."""

from __future__ import annotations

from enum import StrEnum

import sqlalchemy as sa

from cairn.store.column_types import one_of
from cairn.store.tables.metadata import flag, index, json, metadata, moment, refers, text, whole


class ChannelKind(StrEnum):
    TEAMS = "teams"  # an Adaptive Card to a Teams workflow
    SLACK = "slack"  # blocks to a Slack webhook
    EMAIL = "email"  # a mail to each person
    WEBHOOK = "webhook"  # signed JSON to any address
    APPRISE = "apprise"  # a text to any service that apprise knows


class NotificationKind(StrEnum):
    APPROVAL_REQUESTED = "approval_requested"  # a question is put to people
    APPROVAL_REMINDER_DUE = "approval_reminder_due"  # half of the time to decide is over
    APPROVAL_ESCALATED = "approval_escalated"  # nobody decided in time: others are brought in
    APPROVAL_ASSIGNED = "approval_assigned"  # handed over to others
    APPROVAL_REJECTED = "approval_rejected"  # answered with no
    APPROVAL_TIMEOUT = "approval_timeout"  # nobody decided in time
    APPROVAL_AUTO_APPROVED = "approval_auto_approved"  # a rule has approved, and says that people are told
    EXECUTION_FAILED = "execution_failed"  # given up, with the error
    RUN_FAILED = "run_failed"  # ended by a failure, a rejection or a deadline
    BUDGET_WARNING = "budget_warning"  # most of what a run may use is used
    BUDGET_EXHAUSTED = "budget_exhausted"  # the run pauses until its budget is raised
    RUN_COMPLETED = "run_completed"  # every checkpoint is complete
    TEST = "test"  # somebody tries a channel out


class DeliveryStatus(StrEnum):
    WAITING = "waiting"  # for its turn, its next try, or the end of somebody's quiet hours
    SENDING = "sending"  # a try is under way, or was when the process died
    SENT = "sent"  # whoever takes it has said so
    UNKNOWN = "unknown"  # it may have arrived: nobody has said so
    FAILED = "failed"  # given up
    SKIPPED = "skipped"  # nobody needs it any more


class DeliveryOutcome(StrEnum):
    SENT = "sent"  # taken
    NOT_SENT = "not_sent"  # surely not taken
    UNKNOWN = "unknown"  # may have been taken: no answer, or the process died meanwhile


channels = sa.Table(
    "channels",
    metadata,
    text("channel_id", primary_key=True),
    text("name"),
    text("kind"),
    flag("is_enabled"),
    flag("include_details"),  # false: what it is about stays inside, only a link leaves
    json("notification_kinds"),  # of notices that go there without a rule that names it
    json("pipelines"),  # ids; none: all
    json("recipients"),  # of an e-mail channel, where nobody else is named
    text("host"),  # that its address leads to; the address itself is a secret
    text("fallback", null=True),  # the name of the channel that is taken when this one fails
    whole("revision"),
    moment("created_at"),
    text("created_by"),
    moment("updated_at"),
    sa.UniqueConstraint("name"),
    one_of("kind", ChannelKind),
)

# Not `notifications`: the job engine has a table of that name in the same SQLite file.
notification_outbox = sa.Table(
    "notification_outbox",
    metadata,
    text("notification_id", primary_key=True),
    text("kind"),
    text("pipeline_id", null=True),
    text("run_id", null=True),
    text("execution_id", null=True),
    text("approval_id", null=True),
    text("actor"),  # whose command it was
    json("detail"),  # of the event
    moment("created_at"),
    json("content", null=True),  # what is told; null until it is known who is told
    one_of("kind", NotificationKind),
    index("ix_notification_outbox_created", "created_at"),
)

deliveries = sa.Table(
    "deliveries",
    metadata,
    text("delivery_id", primary_key=True),
    text("notification_id", refers("notification_outbox.notification_id")),
    text("channel_id", null=True),  # null: the rule names a channel that is not there
    text("channel"),  # its name at that time
    text("channel_kind"),
    text("recipient"),  # of a mail; otherwise empty
    text("status"),
    whole("attempt_count"),
    flag("possible_duplicate"),  # a try that nobody knows the end of came before another
    text("response"),  # what the last try was answered, or why there is none
    text("fallback_of", refers("deliveries.delivery_id"), null=True),
    moment("created_at"),
    moment("due_at"),
    moment("ended_at", null=True),
    sa.UniqueConstraint("notification_id", "channel", "recipient"),
    one_of("status", DeliveryStatus),
    index("ix_deliveries_created", "created_at", "delivery_id"),
    index("ix_deliveries_open", "notification_id", where="status IN ('waiting', 'sending')"),
)

delivery_attempts = sa.Table(
    "delivery_attempts",
    metadata,
    text("delivery_id", refers("deliveries.delivery_id"), primary_key=True),
    whole("number", primary_key=True, autoincrement=False),  # from 1
    moment("started_at"),
    moment("ended_at", null=True),
    text("outcome", null=True),  # null: under way, or cut off by the end of the process
    text("response"),
    one_of("outcome", DeliveryOutcome),
)

notification_preferences = sa.Table(
    "notification_preferences",
    metadata,
    text("user", primary_key=True),
    json("channels", null=True),  # names or kinds of channels that may reach this person; null: all
    json("notification_kinds", null=True),  # of notices that this person wants; null: all
    json("quiet_hours", null=True),  # the hours in which nothing is sent: from, until, time_zone
    moment("updated_at"),
)
