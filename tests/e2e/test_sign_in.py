"""Sign-in and the page that it returns to."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.server import Server


def test_signing_in_returns_to_the_requested_page(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/runs?status=failed")
    expect(page.get_by_role("heading", name="Sign in to Cairn")).to_be_visible()
    field = page.get_by_label("Start link or token")
    field.fill("two words")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("No token found.")).to_be_visible()
    field.fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("This token is invalid or expired.")).to_be_visible()
    field.fill(server.start_link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    assert page.url == f"{server.address}/runs?status=failed"


def test_an_expired_start_link_is_explained(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/#token=old")
    expect(page.get_by_text("This token is invalid or expired.")).to_be_visible()
    assert "token" not in page.url


def test_the_start_link_works_in_the_sign_in_tab(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/")
    expect(page.get_by_role("heading", name="Sign in to Cairn")).to_be_visible()
    page.goto(server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    assert "token" not in page.url


def test_signing_out_ends_the_session(signed_in: Page) -> None:
    signed_in.get_by_role("button", name="your account").click()
    signed_in.get_by_role("menuitem", name="Sign out").click()
    expect(signed_in.get_by_role("heading", name="Sign in to Cairn")).to_be_visible()
    signed_in.reload()
    expect(signed_in.get_by_role("heading", name="Sign in to Cairn")).to_be_visible()


def test_a_session_ended_elsewhere_leads_to_sign_in(signed_in: Page, server: Server) -> None:
    signed_in.context.clear_cookies()
    signed_in.keyboard.press("g")  # unless the page has already noticed
    signed_in.keyboard.press("r")
    expect(signed_in.get_by_role("heading", name="Sign in to Cairn")).to_be_visible()


def test_the_color_scheme_is_kept(signed_in: Page) -> None:
    html = signed_in.locator("html")
    expect(html).to_have_attribute("data-mantine-color-scheme", "light")
    signed_in.get_by_role("button", name="your account").click()
    signed_in.get_by_role("menuitem", name="Dark").click()
    expect(html).to_have_attribute("data-mantine-color-scheme", "dark")
    signed_in.reload(wait_until="commit")
    expect(html).to_have_attribute("data-mantine-color-scheme", "dark")
