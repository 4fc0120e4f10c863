"""Users, groups, invitations and delegations."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import index, json, metadata, references, text, timestamp

users = sa.Table(
    "users",
    metadata,
    text("name", primary_key=True),  # never reassigned: decisions refer to it
    text("display_name"),
    text("email"),  # or empty
    json("roles"),
    text("password_hash", null=True),
    timestamp("created_at"),
    text("created_by"),
    timestamp("last_signed_in_at", null=True),
    timestamp("deleted_at", null=True),
    sa.Index(
        "ix_users_email",
        "email",
        unique=True,
        sqlite_where=sa.text("email <> ''"),
        postgresql_where=sa.text("email <> ''"),
    ),
)

# The identities that users have with identity providers.
user_identities = sa.Table(
    "user_identities",
    metadata,
    text("provider", primary_key=True),
    text("subject", primary_key=True),
    text("user_name", references("users.name")),
    timestamp("created_at"),
    index("ix_user_identities_of_user", "user_name"),
)

groups = sa.Table(
    "groups",
    metadata,
    text("name", primary_key=True),
    text("description"),
    timestamp("created_at"),
    text("created_by"),
)

group_members = sa.Table(
    "group_members",
    metadata,
    text("group_name", references("groups.name"), primary_key=True),
    text("user_name", references("users.name"), primary_key=True),
    index("ix_group_members_of_user", "user_name"),
)

invitations = sa.Table(
    "invitations",
    metadata,
    text("invitation_id", primary_key=True),
    text("token_digest", unique=True),
    text("user_name", references("users.name")),
    timestamp("created_at"),
    text("created_by"),
    timestamp("expires_at"),
    timestamp("accepted_at", null=True),
    timestamp("revoked_at", null=True),
    index("ix_invitations_created", "created_at", "invitation_id"),
    index("ix_invitations_of_user", "user_name"),
)

delegations = sa.Table(
    "delegations",
    metadata,
    text("delegation_id", primary_key=True),
    text("from_user", references("users.name")),
    text("to_user", references("users.name")),
    text("reason"),
    timestamp("starts_at"),
    timestamp("ends_at"),
    timestamp("created_at"),
    text("created_by"),
    timestamp("ended_at", null=True),  # if it was ended early
    text("ended_by", null=True),
    index("ix_delegations_created", "created_at", "delegation_id"),
    index("ix_delegations_from", "from_user"),
    index("ix_delegations_to", "to_user"),
)
