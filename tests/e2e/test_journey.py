"""The complete journey through the web app, from the start link to a rollback and its undo."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.server import Server


def fill_in(page: Page, answers: dict[str, str]) -> None:
    for label, answer in answers.items():
        page.get_by_label(label).fill(answer)
    page.get_by_role("button", name="Submit form").click()


def approve(page: Page, name: str) -> None:
    expect(page.get_by_text(f"Approve {name}?")).to_be_visible()
    page.get_by_role("button", name="Approve", exact=True).click()


GOALS = {
    "What do we want to achieve?": "Suppliers answer within a day, without mails.",
    "Who is it for?": "Suppliers",
    "How will we measure success?": "Half as many mails",
}
REQUIREMENTS = {"What must it do?": "Sign in by link. Keep twelve months of history."}
DESIGN = {
    "The design in a few paragraphs": "A portal with one page per order, and a link that signs the supplier in.",
    "Which alternatives did you reject, and why?": "A mail robot: nobody would trust it.",
}


def test_the_journey_from_setup_to_rollback(page: Page, fresh_server: Server) -> None:
    """Set-up, two versions, both rollbacks and the history, in the browser alone."""
    sign_in_and_create(page, fresh_server)
    first_version(page)
    second_version_with_the_first_as_reference(page)
    rollback_within_the_run(page)
    rollback_to_the_first_version(page)


def sign_in_and_create(page: Page, server: Server) -> None:
    page.goto(server.start_link)
    expect(page.get_by_role("heading", name="Approve your first run in two minutes")).to_be_visible()
    assert "token" not in page.url
    page.get_by_role("link", name="Pipelines").click()
    page.get_by_role("link", name="New pipeline").first.click()
    page.get_by_role("button", name="Use template: Product discovery").click()
    expect(page.get_by_role("heading", name="Product discovery", level=1)).to_be_visible()


def first_version(page: Page) -> None:
    page.get_by_role("button", name="Start v1").click()
    page.get_by_role("dialog").get_by_role("button", name="Start v1").click()
    expect(page.get_by_role("heading", name="Product discovery v1")).to_be_visible()

    page.get_by_label("What do we want to achieve?").fill("too short")
    page.get_by_role("button", name="Submit form").click()
    expect(page.get_by_text("This field is required.").first).to_be_visible()
    fill_in(page, {**GOALS, "What do we want to achieve?": "too short"})
    expect(page.get_by_label("What do we want to achieve?")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Who is it for?")).to_have_value("Suppliers")
    fill_in(page, GOALS)

    expect(page.get_by_text("Approve Business goals?")).to_be_visible()
    page.get_by_role("button", name="Request revision…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Request revision").click()
    expect(dialog.get_by_text("This field is required.")).to_be_visible()
    dialog.get_by_label("What should change").fill("Name a number, please.")
    dialog.get_by_role("button", name="Request revision").click()
    expect(page.get_by_text("Name a number, please.")).to_be_visible()
    expect(page.get_by_label("Who is it for?")).to_have_value("Suppliers")
    fill_in(page, {"How will we measure success?": "50 % fewer mails in June"})
    expect(page.get_by_text("revision 1 of 3")).to_be_visible()

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    approve(page, "Business goals")
    expect(page.get_by_text("The run is paused")).to_be_visible()
    page.get_by_role("button", name="Resume").first.click()

    start_waiting(page, "Requirements")
    fill_in(page, REQUIREMENTS)
    approve(page, "Requirements")
    let_design_start(page)
    fill_in(page, DESIGN)
    approve(page, "Design")
    expect(page.get_by_text("Run completed")).to_be_visible()
    expect(page.get_by_text("3 of 3", exact=True)).to_be_visible()


def start_waiting(page: Page, name: str) -> None:
    """Without auto_advance the next checkpoint waits to be started."""
    expect(page.get_by_text(f"Start {name}?")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()


def let_design_start(page: Page) -> None:
    expect(page.get_by_text("Start Design?")).to_be_visible()
    page.get_by_role("button", name="Approve", exact=True).click()


def second_version_with_the_first_as_reference(page: Page) -> None:
    page.get_by_role("link", name="Product discovery").click()
    page.get_by_role("button", name="Start v2 (based on v1)").click()
    page.get_by_role("dialog").get_by_role("button", name="Start v2 (based on v1)").click()
    expect(page.get_by_role("heading", name="Product discovery v2")).to_be_visible()
    reference = page.get_by_role("region", name="Reference")
    expect(reference).to_contain_text("from v1")
    expect(reference).to_contain_text("50 % fewer mails in June")
    fill_in(page, GOALS)
    approve(page, "Business goals")
    start_waiting(page, "Requirements")
    fill_in(page, REQUIREMENTS)
    expect(page.get_by_text("Approve Requirements?")).to_be_visible()


def rollback_within_the_run(page: Page) -> None:
    page.get_by_role("button", name="Roll back…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio", name="1. Business goals")).to_be_checked()
    expect(dialog).to_contain_text("1 checkpoint and 1 artifact")
    expect(dialog).to_contain_text("1 pending approval: Requirements")
    expect(dialog).to_contain_text("Requirements waits for a manual start.")
    dialog.get_by_label("Reason (optional)").fill("The goals changed.")
    dialog.get_by_role("button", name="Roll back to checkpoint 1").click()
    expect(page.get_by_text("Rolled back to checkpoint 1, 1 execution archived.")).to_be_visible()
    expect(page.get_by_text("Start Requirements?")).to_be_visible()
    page.get_by_role("button", name="Undo rollback").click()
    expect(page.get_by_text("Rollback undone.")).to_be_visible()


def rollback_to_the_first_version(page: Page) -> None:
    page.get_by_role("button", name="Roll back…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("To an earlier run").click()
    dialog.get_by_text("v1", exact=True).click()
    dialog.get_by_label("In v1, just after").select_option(label="1. Business goals")
    expect(dialog).to_contain_text("v2:")
    button = dialog.get_by_role("button", name="Roll back to v1 (archives 1 run)")
    expect(button).to_be_disabled()
    dialog.get_by_label("Type Product discovery to confirm").fill("Product discovery")
    button.click()
    expect(page.get_by_role("heading", name="Product discovery v1")).to_be_visible()
    expect(page.get_by_text("Start Requirements?")).to_be_visible()
    page.get_by_role("link", name="Product discovery").click()
    expect(page.get_by_role("button", name="Start v3 (based on v1)")).to_be_visible()
