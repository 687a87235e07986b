"""Settings: what holds in a project, who has a credential, and what one person likes on one device."""

import re

import pytest
from playwright.sync_api import Page, expect

from assent.client.client import Client
from assent.protocol.policy import Level, Policy
from assent.protocol.principal import Principal, Role
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import Mishaps, Theme, Viewport, axe

__all__: list[str] = []

HERE = "/#/settings/shop"
NARROW: Viewport = (320, 640)


@pytest.fixture
def settings(page: Page, site: ThrowawayServer) -> Page:
    """Give the settings of a project in which something has happened, as ana sees them."""
    site.agent("coder").open("Which?", ["A", "B"])
    page.goto(HERE)
    expect(page.get_by_role("heading", name="When agents must ask")).to_be_visible()
    return page


def level(page: Page, category: str, name: str) -> None:
    """Choose a level of a category, as a hand does."""
    page.get_by_role("group", name=category).get_by_text(name, exact=True).click()


def policy(site: ThrowawayServer) -> Policy:
    """Return what holds."""
    return site.person("sam").policy()


def test_loosening_a_policy_takes_a_second_step_and_tightening_none(
    settings: Page, site: ThrowawayServer
) -> None:
    """What takes something out of people's hands is said in words first; nothing is sent before the second click."""
    level(settings, "Scope changes", "Automated")
    second = settings.get_by_role("group", name="Loosen Scope changes")
    expect(second).to_contain_text("without asking and without telling anybody")
    assert policy(site).scope_changes is Level.REQUIRES_APPROVAL
    second.get_by_role("button", name="Keep Ask first").click()
    expect(second).to_have_count(0)
    expect(settings.locator("input[name=policy-scopeChanges][value=requires_approval]")).to_be_checked()
    level(settings, "Scope changes", "Notify")
    second.get_by_role("button", name="Loosen it").click()
    expect(settings.get_by_text("Scope changes: Notify. It holds from now on.")).to_be_visible()
    assert policy(site).scope_changes is Level.NOTIFY_AND_PROCEED
    level(settings, "Scope changes", "Ask first")
    expect(settings.get_by_text("Scope changes: Ask first. It holds from now on.")).to_be_visible()
    assert policy(site).scope_changes is Level.REQUIRES_APPROVAL


def test_policy_that_somebody_else_changes_is_shown_at_once(settings: Page, site: ThrowawayServer) -> None:
    """With their name."""
    expect(settings.get_by_text("Nobody has set anything yet")).to_be_visible()
    site.person("sam").set_policy({"architectureDecisions": "automated"})
    expect(settings.locator("input[name=policy-architectureDecisions][value=automated]")).to_be_checked()
    expect(settings.get_by_text(re.compile(r"Last change: sam, .*event \d+"))).to_be_visible()


def test_policy_is_chosen_by_keyboard_alone(settings: Page, site: ThrowawayServer) -> None:
    """Real radio buttons: an arrow marks, the second step is a button behind them."""
    settings.locator("input[name=policy-dependencyModifications][value=requires_approval]").focus()
    settings.keyboard.press("ArrowLeft")
    settings.keyboard.press("Tab")
    expect(settings.get_by_role("button", name="Loosen it")).to_be_focused()
    settings.keyboard.press("Enter")
    expect(settings.get_by_text("Dependency changes: Notify.")).to_be_visible()
    assert policy(site).dependency_modifications is Level.NOTIFY_AND_PROCEED


def test_token_is_made_its_secret_shown_once_and_revoked_in_two_steps(
    settings: Page, site: ThrowawayServer
) -> None:
    """The secret opens the door, is gone from the page once it was taken, and opens nothing after the end."""
    settings.context.grant_permissions(["clipboard-read", "clipboard-write"])
    settings.get_by_role("button", name="Create token").click()
    expect(settings.get_by_text("Give it a name first")).to_be_visible()
    form = settings.get_by_role("form", name="New token")
    form.get_by_label("Name").fill("sam-k")
    form.get_by_label("Role").select_option("human")
    expect(form.get_by_label("Ends")).to_have_value(str(30 * 86_400))
    form.get_by_label("Name").press("Enter")
    made = settings.get_by_role("group", name="The new token")
    secret = made.locator("code").first.inner_text()
    assert secret.startswith("assent_")
    made.get_by_role("button", name="Copy").click()
    expect(made.get_by_role("button", name="Copied")).to_be_visible()
    assert settings.evaluate("navigator.clipboard.readText()") == secret
    assert Client(site.door(secret), "shop", Principal(Role.HUMAN, "sam-k")).inbox()
    made.get_by_role("button", name="I have it").click()
    assert secret not in settings.content()
    expect(settings.locator(".chips")).to_contain_text("sam-k")
    row = settings.get_by_role("row", name=re.compile("^sam-k"))
    row.get_by_role("button", name="Revoke").click()
    assert [token.revoked_at for token in site.person("jo").tokens() if token.name == "sam-k"] == [None]
    settings.get_by_role("button", name="Keep it").click()
    row.get_by_role("button", name="Revoke").click()
    settings.get_by_role("button", name="Revoke for good").click()
    expect(settings.get_by_text("sam-k was revoked.")).to_be_visible()
    expect(row).to_have_count(0)
    expect(settings.locator(".chips")).not_to_contain_text("sam-k")
    assert None not in [token.revoked_at for token in site.person("jo").tokens() if token.name == "sam-k"]


def test_taste_is_kept_on_the_device_and_followed_by_other_windows(settings: Page) -> None:
    """The theme pins both themes against the system's; a stored value that is none is passed over."""
    other = settings.context.new_page()
    other.goto(HERE)
    root, others = settings.locator("html"), other.locator("html")
    expect(root).not_to_have_attribute("data-theme", re.compile("."))
    level(settings, "Theme", "Dark")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(others).to_have_attribute("data-theme", "dark")
    level(settings, "Size", "Compact")
    settings.get_by_role("switch", name="Sound").click()
    settings.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).to_have_attribute("data-density", "compact")
    expect(settings.get_by_role("switch", name="Sound")).to_be_checked()
    level(settings, "Theme", "System")
    expect(others).not_to_have_attribute("data-theme", re.compile("."))
    settings.evaluate('localStorage.setItem(\'assent-taste\', \'{"theme": "<b>", "sound": 1}\')')
    settings.reload()
    expect(settings.get_by_role("switch", name="Sound")).not_to_be_checked()
    expect(root).not_to_have_attribute("data-theme", re.compile("."))


def test_settings_of_a_project_that_is_not_there_say_so(settings: Page) -> None:
    """And show what is there."""
    settings.goto("/#/settings/nowhere%E2%80%AE")
    expect(settings.get_by_text("There is no project “nowhere<U+202E>” that you can see")).to_be_visible()


@pytest.mark.parametrize(
    ("theme", "viewport"), [("light", (1440, 900)), ("dark", NARROW)], ids=["wide", "narrow"]
)
def test_settings_are_for_everybody_to_read(
    settings: Page, theme: Theme, viewport: Viewport, mishaps: Mishaps
) -> None:
    """Nothing is found by axe in any of their states, and nothing has to be scrolled sideways."""
    level(settings, "Scope changes", "Automated")
    settings.get_by_role("button", name=re.compile("^Revoke")).first.click()
    settings.get_by_label("Name", exact=True).fill("x" * 100)
    settings.get_by_role("button", name="Create token").click()
    expect(settings.get_by_role("group", name="The new token")).to_be_visible()
    assert axe(settings) == [], theme
    assert settings.evaluate("document.documentElement.scrollWidth") <= viewport[0]
    assert settings.evaluate("document.querySelector('main').scrollWidth") <= viewport[0]
    assert mishaps.unpardoned == []
