"""Who there is: users, groups, invitations, and who stands for whom."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import index, json, metadata, moment, refers, text

users = sa.Table(
    "users",
    metadata,
    text("name", primary_key=True),  # never given to somebody else: decisions carry it
    text("display_name"),
    text("email"),  # empty for none
    json("roles"),
    text("password_hash", null=True),
    moment("created_at"),
    text("created_by"),
    moment("last_signed_in_at", null=True),
    moment("removed_at", null=True),
    sa.Index(
        "ix_users_email",
        "email",
        unique=True,
        sqlite_where=sa.text("email <> ''"),
        postgresql_where=sa.text("email <> ''"),
    ),
)

# As whom an identity provider knows a user.
user_identities = sa.Table(
    "user_identities",
    metadata,
    text("provider", primary_key=True),
    text("subject", primary_key=True),
    text("user_name", refers("users.name")),
    moment("created_at"),
    index("ix_user_identities_of_user", "user_name"),
)

groups = sa.Table(
    "groups",
    metadata,
    text("name", primary_key=True),
    text("description"),
    moment("created_at"),
    text("created_by"),
)

group_members = sa.Table(
    "group_members",
    metadata,
    text("group_name", refers("groups.name"), primary_key=True),
    text("user_name", refers("users.name"), primary_key=True),
    index("ix_group_members_of_user", "user_name"),
)

invitations = sa.Table(
    "invitations",
    metadata,
    text("invitation_id", primary_key=True),
    text("token_digest", unique=True),
    text("user_name", refers("users.name")),
    moment("created_at"),
    text("created_by"),
    moment("expires_at"),
    moment("accepted_at", null=True),
    moment("revoked_at", null=True),
    index("ix_invitations_created", "created_at", "invitation_id"),
    index("ix_invitations_of_user", "user_name"),
)

delegations = sa.Table(
    "delegations",
    metadata,
    text("delegation_id", primary_key=True),
    text("from_user", refers("users.name")),
    text("to_user", refers("users.name")),
    text("reason"),
    moment("starts_at"),
    moment("ends_at"),
    moment("created_at"),
    text("created_by"),
    moment("ended_at", null=True),  # before its time
    text("ended_by", null=True),
    index("ix_delegations_created", "created_at", "delegation_id"),
    index("ix_delegations_from", "from_user"),
    index("ix_delegations_to", "to_user"),
)
