"""Notification channels, notifications, and their deliveries with every attempt."""

from __future__ import annotations

from enum import StrEnum

import sqlalchemy as sa

from cairn.store.column_types import one_of
from cairn.store.tables.metadata import flag, index, integer, json, metadata, references, text, timestamp


class ChannelKind(StrEnum):
    TEAMS = "teams"  # an Adaptive Card to a Teams workflow
    SLACK = "slack"  # blocks to a Slack webhook
    EMAIL = "email"  # an email to each recipient
    WEBHOOK = "webhook"  # signed JSON to any address
    APPRISE = "apprise"  # a text to any service that Apprise supports


class NotificationKind(StrEnum):
    APPROVAL_REQUESTED = "approval_requested"  # people have to decide
    APPROVAL_REMINDER_DUE = "approval_reminder_due"  # half of the time to decide has passed
    APPROVAL_ESCALATED = "approval_escalated"  # no decision in time, so more people can decide
    APPROVAL_ASSIGNED = "approval_assigned"  # assigned to other people
    APPROVAL_REJECTED = "approval_rejected"  # rejected by a person
    APPROVAL_TIMEOUT = "approval_timeout"  # expired without a decision
    APPROVAL_AUTO_APPROVED = "approval_auto_approved"  # approved by a rule that requests a notification
    EXECUTION_FAILED = "execution_failed"  # failed for good, with the error
    RUN_FAILED = "run_failed"  # ended by a failure, a rejection or a deadline
    BUDGET_WARNING = "budget_warning"  # most of the run's budget is used
    BUDGET_EXHAUSTED = "budget_exhausted"  # the run pauses until its budget is raised
    RUN_COMPLETED = "run_completed"  # every checkpoint is complete
    TEST = "test"  # a user tests a channel


class DeliveryStatus(StrEnum):
    QUEUED = "queued"  # until its turn, its next attempt or the end of quiet hours
    SENDING = "sending"  # an attempt is in progress, or was when the process died
    SENT = "sent"  # the receiver has confirmed it
    UNKNOWN = "unknown"  # it may have arrived, but was not confirmed
    FAILED = "failed"  # no more attempts
    SKIPPED = "skipped"  # no longer needed


class DeliveryOutcome(StrEnum):
    SENT = "sent"  # accepted by the receiver
    NOT_SENT = "not_sent"  # certainly not accepted
    UNKNOWN = "unknown"  # possibly accepted: no response, or the process died


channels = sa.Table(
    "channels",
    metadata,
    text("channel_id", primary_key=True),
    text("name"),
    text("kind"),
    flag("is_enabled"),
    flag("include_details"),  # false: send only a link, no content
    json("notification_kinds"),  # sent here even if no rule names the channel
    json("pipelines"),  # ids; empty: all
    json("recipients"),  # of an email channel, if the notification names none
    text("host"),  # of the address, which itself is a secret
    text("fallback", null=True),  # the name of the channel to use if this one fails
    integer("revision"),
    timestamp("created_at"),
    text("created_by"),
    timestamp("updated_at"),
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
    text("actor"),  # who caused the event
    json("detail"),  # of the event
    timestamp("created_at"),
    json("content", null=True),  # null until recipients are chosen
    one_of("kind", NotificationKind),
    index("ix_notification_outbox_created", "created_at"),
)

deliveries = sa.Table(
    "deliveries",
    metadata,
    text("delivery_id", primary_key=True),
    text("notification_id", references("notification_outbox.notification_id")),
    text("channel_id", null=True),  # null: the rule names an unknown channel
    text("channel"),  # its name at the time
    text("channel_kind"),
    text("recipient"),  # of an email, otherwise empty
    text("status"),
    integer("attempt_count"),
    flag("possible_duplicate"),  # an attempt with unknown outcome was followed by another
    text("response"),  # to the last attempt, or why there was none
    text("fallback_of", references("deliveries.delivery_id"), null=True),
    timestamp("created_at"),
    timestamp("due_at"),
    timestamp("ended_at", null=True),
    sa.UniqueConstraint("notification_id", "channel", "recipient"),
    one_of("status", DeliveryStatus),
    index("ix_deliveries_created", "created_at", "delivery_id"),
    index("ix_deliveries_open", "notification_id", where="status IN ('queued', 'sending')"),
)

delivery_attempts = sa.Table(
    "delivery_attempts",
    metadata,
    text("delivery_id", references("deliveries.delivery_id"), primary_key=True),
    integer("number", primary_key=True, autoincrement=False),  # from 1
    timestamp("started_at"),
    timestamp("ended_at", null=True),
    text("outcome", null=True),  # null: in progress, or the process died
    text("response"),
    one_of("outcome", DeliveryOutcome),
)

notification_preferences = sa.Table(
    "notification_preferences",
    metadata,
    text("user", primary_key=True),
    json("channels", null=True),  # names or kinds of channels that may notify this user; null: all
    json("notification_kinds", null=True),  # to send to this user; null: all
    json("quiet_hours", null=True),  # from, until, time_zone
    timestamp("updated_at"),
)
