"""Users in the browser: invitations, sign-in by password or company account, permissions."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.api.identity_providers import free_port, real_provider
from tests.e2e.page_checks import axe, overflow
from tests.e2e.server import Server

PASSWORD = "three stones upon another"


@pytest.fixture
def guest(browser: Browser) -> Generator[BrowserContext]:
    """The browser of another user."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    yield context
    context.close()


def open_page(page: Page, server: Server, address: str, width: int = 1280) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.goto(server.address + address)


def check_current_page(page: Page) -> None:
    assert (axe(page), overflow(page)) == ([], 0)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_a_user_is_invited_accepts_and_is_deleted(
    page: Page, fresh_server: Server, guest: BrowserContext, width: int, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    open_page(page, fresh_server, "/settings/users", width)
    expect(page.get_by_role("heading", name="1 user", level=1)).to_be_visible()
    page.get_by_role("button", name="Invite user…").click()
    page.get_by_label("Username", exact=True).fill("reviewer")
    page.get_by_label("Email").fill("reviewer@example.com")
    page.get_by_role("checkbox", name="Approver").check()
    page.get_by_role("checkbox", name="Viewer").uncheck()
    check_current_page(page)
    page.get_by_role("button", name="Create invitation").click()
    link = page.get_by_label("Link", exact=True)
    expect(link).to_be_visible()
    check_current_page(page)
    address = link.input_value()
    page.get_by_role("button", name="Done", exact=True).click()
    expect(page.get_by_role("list", name="Pending invitations")).to_contain_text("reviewer")
    check_current_page(page)

    theirs = guest.new_page()
    theirs.set_viewport_size({"width": width, "height": 800})
    theirs.goto(address)
    expect(theirs.get_by_role("heading", name="Welcome, reviewer")).to_be_visible()
    assert "invitation=" not in theirs.url
    check_current_page(theirs)
    theirs.get_by_label("Password", exact=True).fill(PASSWORD)
    theirs.get_by_label("Repeat password").fill(PASSWORD)
    theirs.get_by_role("button", name="Set password and sign in").click()
    expect(theirs.get_by_role("navigation", name="Main")).to_be_visible()
    theirs.goto(address)
    expect(theirs.get_by_role("heading", name="Invalid invitation")).to_be_visible()

    # Admin pages are neither linked nor shown.
    theirs.goto(fresh_server.address + "/settings")
    parts = theirs.get_by_role("navigation", name="Settings")
    expect(parts.get_by_role("link")).to_have_text(["Your account", "Notifications"])
    theirs.goto(fresh_server.address + "/settings/users")
    expect(theirs.get_by_text("Admins only")).to_be_visible()
    theirs.goto(fresh_server.address + "/rules")
    expect(theirs.get_by_role("heading", name="No rules yet", level=1)).to_be_visible()
    expect(theirs.get_by_role("button", name="Stop all automatic approvals")).to_have_count(0)
    expect(theirs.get_by_role("button", name="Write rules")).to_have_count(0)

    page.get_by_role("button", name="More actions for reviewer").click()
    page.get_by_role("menuitem", name="Delete…").click()
    page.get_by_role("button", name="Delete reviewer").click()
    expect(page.get_by_role("heading", name="1 user", level=1)).to_be_visible()
    theirs.goto(fresh_server.address + "/runs")
    expect(theirs.get_by_role("heading", name="Sign in to Cairn")).to_be_visible()


def test_signing_in_with_a_password(page: Page, fresh_server: Server, guest: BrowserContext) -> None:
    """Signing in returns to the requested page. An error does not reveal whether name or password is wrong."""
    open_page(page, fresh_server, "/settings")
    page.get_by_label("New password").fill("short")
    page.get_by_role("button", name="Set password").click()
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("button", name="Change password")).to_be_visible()

    theirs = guest.new_page()
    theirs.goto(fresh_server.address + "/runs?status=failed")
    check_current_page(theirs)
    theirs.get_by_label("Username or email").fill("admin")
    theirs.get_by_label("Password", exact=True).fill("not that one at all")
    theirs.get_by_role("button", name="Sign in", exact=True).click()
    expect(theirs.get_by_text("Wrong username or password.")).to_be_visible()
    check_current_page(theirs)
    theirs.get_by_role("button", name="Use a start link or token").click()
    expect(theirs.get_by_label("Start link or token")).to_be_focused()
    theirs.get_by_role("button", name="Use username and password").click()
    theirs.get_by_label("Username or email").fill("Admin")
    theirs.get_by_label("Password", exact=True).fill(PASSWORD)
    theirs.get_by_role("button", name="Sign in", exact=True).click()
    expect(theirs.get_by_role("heading", name="Runs")).to_be_visible()
    assert theirs.url == fresh_server.address + "/runs?status=failed"

    # The other session is listed here and ended.
    page.reload()
    sessions = page.get_by_role("list", name="Your sessions")
    expect(sessions.get_by_role("listitem")).to_have_count(2)
    page.get_by_role("button", name="End other sessions").click()
    expect(sessions.get_by_role("listitem")).to_have_count(1)
    theirs.reload()
    expect(theirs.get_by_role("heading", name="Sign in to Cairn")).to_be_visible()


def test_a_company_account_signs_in(page: Page, tmp_path: Path) -> None:
    """Sign in with a real provider on loopback and return to the requested page."""
    with real_provider() as provider:
        port = free_port()
        back = {"redirect_uris": [f"http://127.0.0.1:{port}/sign-in/corp"]}
        client = httpx.post(f"{provider}/oauth2/clients", json=back, trust_env=False).json()
        claims = {"email": "digger@example.com", "email_verified": True, "preferred_username": "digger"}
        httpx.put(f"{provider}/users/sub-1", json=claims, trust_env=False)
        oidc = {
            "name": "corp",
            "title": "the company account",
            "issuer": provider,
            "client_id": client["client_id"],
            "client_secret": client["client_secret"],
            "create_users": True,
            "default_roles": ["viewer"],
        }
        server = Server(tmp_path, port, CAIRN_OIDC=json.dumps([oidc]))
        try:
            page.goto(server.address + "/runs?status=failed")
            check_current_page(page)
            page.get_by_role("button", name="Sign in with the company account").click()
            page.locator("input[name=sub]").fill("sub-1")
            page.locator("input[name=sub]").press("Enter")
            expect(page.get_by_role("heading", name="Runs")).to_be_visible()
            assert page.url == server.address + "/runs?status=failed"
            page.goto(server.address + "/settings")
            expect(page.get_by_text("digger@example.com")).to_be_visible()

            page.goto(server.address + "/sign-in/corp?error=access_denied&error_description=You+said+no")
            expect(page.get_by_text("You said no")).to_be_visible()
            check_current_page(page)
        finally:
            server.stop()


def test_a_token_is_shown_once_works_and_is_revoked(page: Page, fresh_server: Server) -> None:
    open_page(page, fresh_server, "/settings/tokens")
    page.get_by_role("button", name="New token…").click()
    page.get_by_label("Name", exact=True).fill("Nightly import")
    page.get_by_role("checkbox", name="Run").check()
    check_current_page(page)
    page.get_by_role("button", name="Create token").click()
    token = page.get_by_label("Token", exact=True).input_value()
    page.get_by_role("button", name="Done", exact=True).click()
    row = page.get_by_role("list", name="Tokens").get_by_role("listitem").filter(has_text="Nightly import")
    expect(row).to_contain_text("Read, Run")
    assert token not in page.content()
    assert status_with(fresh_server, token) == 200
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("button", name="Revoke token").click()
    expect(row).to_have_count(0)
    assert status_with(fresh_server, token) == 401
    page.get_by_role("button", name="Show inactive tokens").click()
    expect(row).to_contain_text("revoked")
    check_current_page(page)


def test_a_user_without_admin_rights_manages_their_account(
    page: Page, fresh_server: Server, guest: BrowserContext
) -> None:
    """Their tokens stay within their roles and always expire."""
    body = {"name": "reviewer", "roles": ["approver"]}
    path = fresh_server.call("POST", "/api/invitations", body, expect=201)["path"]
    theirs = guest.new_page()
    theirs.goto(fresh_server.address + path)
    theirs.get_by_label("Password", exact=True).fill(PASSWORD)
    theirs.get_by_label("Repeat password").fill(PASSWORD)
    theirs.get_by_role("button", name="Set password and sign in").click()
    expect(theirs.get_by_role("navigation", name="Main")).to_be_visible()
    theirs.goto(fresh_server.address + "/settings")
    theirs.get_by_role("textbox", name="Display name").fill("A reviewer")
    theirs.get_by_role("button", name="Save display name").click()
    expect(theirs.get_by_role("heading", name="A reviewer", level=1)).to_be_visible()

    expect(theirs.get_by_text("No tokens. You only need one for programs")).to_be_visible()
    theirs.get_by_role("button", name="New token…").click()
    theirs.get_by_label("Name", exact=True).fill("My notebook")
    expect(theirs.get_by_role("checkbox", name="Define")).to_have_count(0)
    assert theirs.get_by_label("Expires after").locator("option").all_inner_texts()[-1] == "1 year"
    theirs.get_by_role("checkbox", name="Decide").check()
    check_current_page(theirs)
    theirs.get_by_role("button", name="Create token").click()
    token = theirs.get_by_label("Token", exact=True).input_value()
    theirs.get_by_role("button", name="Done", exact=True).click()
    row = theirs.get_by_role("list", name="API tokens").get_by_role("listitem")
    expect(row).to_contain_text("Read, Decide")
    check_current_page(theirs)
    assert status_with(fresh_server, token) == 200
    theirs.set_viewport_size({"width": 360, "height": 800})
    check_current_page(theirs)
    row.get_by_role("button", name="Revoke").click()
    theirs.get_by_role("button", name="Revoke token").click()
    expect(row).to_have_count(0)
    assert status_with(fresh_server, token) == 401


def test_long_lists_are_paged(page: Page, fresh_server: Server) -> None:
    """Users, tokens and channels: search and load more."""
    for number in range(55):
        fresh_server.call("POST", "/api/users", {"name": f"user-{number:02}", "roles": ["viewer"]}, expect=201)
        fresh_server.call("POST", "/api/tokens", {"name": f"token-{number:02}", "user": "admin"}, expect=201)
        fresh_server.call("POST", "/api/channels", {"name": f"mail-{number:02}", "kind": "email"}, expect=201)
    open_page(page, fresh_server, "/settings/users")
    rows = page.get_by_role("list", name="Users").get_by_role("listitem")
    expect(page.get_by_role("heading", name="50+ users", level=1)).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("heading", name="56 users", level=1)).to_be_visible()
    expect(rows).to_have_count(56)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    page.reload()
    page.get_by_label("Search").fill("user-54")
    expect(page.get_by_role("heading", name="1 user found", level=1)).to_be_visible()
    expect(rows).to_have_count(1)

    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Tokens").click()
    rows = page.get_by_role("list", name="Tokens").get_by_role("listitem")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(rows.filter(has_text="token-00")).to_have_count(1)

    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Channels").click()
    expect(page.get_by_role("heading", name="50+ notification channels", level=1)).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("heading", name="55 notification channels", level=1)).to_be_visible()


def status_with(server: Server, token: str) -> int:
    request = urllib.request.Request(server.address + "/api/runs", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            found: int = response.status
            return found
    except urllib.error.HTTPError as error:
        return error.code


def test_groups_delegations_and_secrets(page: Page, fresh_server: Server) -> None:
    fresh_server.call("POST", "/api/users", {"name": "reviewer", "roles": ["approver"]})
    open_page(page, fresh_server, "/settings/groups")
    page.get_by_role("button", name="New group…").click()
    page.get_by_label("Name", exact=True).fill("finance")
    page.get_by_role("checkbox", name="reviewer").check()
    page.get_by_role("button", name="Create group").click()
    expect(page.get_by_role("list", name="Groups")).to_contain_text("reviewer")
    assert fresh_server.call("GET", "/api/groups/finance")["members"] == ["reviewer"]
    page.get_by_role("button", name="Delete finance…").click()
    page.get_by_role("button", name="Delete group").click()
    expect(page.get_by_role("heading", name="No groups yet")).to_be_visible()

    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Your account").click()
    page.get_by_role("button", name="New delegation…").click()
    page.get_by_label("Delegate to", exact=True).select_option("reviewer")
    check_current_page(page)
    page.get_by_role("button", name="Create delegation").click()
    deciding = page.get_by_role("list", name="Delegations")
    expect(deciding).to_contain_text("reviewer for admin")
    deciding.get_by_role("button", name="End delegation from admin to reviewer").click()
    expect(deciding).to_have_count(0)

    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Secrets").click()
    page.get_by_role("button", name="New secret…").click()
    page.get_by_label("Name", exact=True).fill("oidc-corp")
    page.get_by_label("Value", exact=True).fill("a value that stays inside")
    page.get_by_role("button", name="Save secret").click()
    expect(page.get_by_role("list", name="Secrets")).to_contain_text("oidc-corp")
    assert "stays inside" not in page.content()
    page.get_by_role("button", name="Re-encrypt all").click()
    expect(page.get_by_text("Re-encrypted 1 secret.")).to_be_visible()
    check_current_page(page)
