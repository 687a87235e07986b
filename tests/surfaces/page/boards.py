"""What the tests of the run board do again and again: wait for a state, use a command, read what was said."""

import re

from playwright.sync_api import Page, expect

__all__ = ["armed", "press", "state", "talk"]


def state(page: Page, name: str) -> None:
    """Wait until the run that is shown is said to be so, in the list and in full."""
    expect(page.locator(".run-body .run-head .tag").first).to_have_text(name)
    expect(page.locator(".run[aria-current] .tag")).to_have_text(name)


def armed(page: Page) -> None:
    """Wait until keys count."""
    expect(page.locator(".steer")).to_have_class(re.compile("is-armed"))
    expect(page.locator(".steer button[data-control]").first).not_to_have_attribute("aria-disabled", "true")


def talk(page: Page, at: int = 0) -> list[str]:
    """Return the newest talk but `at` of the run, a line each, once it is over."""
    lines = page.locator(".talk").nth(at).locator("li")
    expect(lines).to_have_count(3)
    expect(lines.last).to_contain_text("RESULT")
    return [" ".join(line.split()) for line in lines.all_inner_texts()]


def press(page: Page, how: str, name: str, key: str) -> None:
    """Use a command by its button, or by its key."""
    armed(page)
    if how == "button":
        page.get_by_role("button", name=re.compile(f"^{name}")).click()
    else:
        page.keyboard.press(key)
