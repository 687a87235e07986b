"""What a page from elsewhere can do in a browser that is signed in: open the page, and nothing more."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page

from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.page.browsing import Mishaps, who

__all__: list[str] = []


@contextmanager
def elsewhere(host: str, markup: str) -> Iterator[str]:
    """Serve one page on a port of its own; to a browser `localhost` is another site than `127.0.0.1`."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(f'<!doctype html><link rel="icon" href="data:,">{markup}'.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join(PATIENCE)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"], ids=["cross-site", "same-site"])
def test_link_from_elsewhere_opens_the_inbox(
    page: Page, site: ThrowawayServer, mishaps: Mishaps, host: str
) -> None:
    """Whoever follows a link in a chat is where they would be had they typed the address, and signed in."""
    with elsewhere(host, f'<a href="{site.url}/">Your inbox</a>') as url:
        mishaps.pardon(url)
        page.goto(url)
        page.get_by_role("link", name="Your inbox").click()
        page.wait_for_url(f"{site.url}/")
        assert who(page) == "ana"
        assert page.evaluate("window.opener") is None


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"], ids=["cross-site", "same-site"])
def test_page_from_elsewhere_cannot_frame_fetch_or_post(
    page: Page, site: ThrowawayServer, mishaps: Mishaps, host: str
) -> None:
    """Each way in that is no link is refused before anything is looked for, with a good session in the browser."""
    frame = f'<iframe src="{site.url}/"></iframe>'
    script = f'<script src="{site.url}/page/app.js"></script>'
    form = f'<form method="post" action="{site.url}/sign-out"><button>Win</button></form>'
    replies: list[tuple[str, int]] = []
    blocked: list[str] = []
    page.on("response", lambda reply: replies.append((reply.url, reply.status)))
    page.on("requestfailed", lambda request: blocked.append(request.url))
    with elsewhere(host, frame + script + form) as url:
        for told in (url, "Failed to load resource", "Framing", "blocked by CORS policy"):
            mishaps.pardon(told)
        page.goto(url)
        asked = (
            f"fetch('{site.url}/whoami', {{ credentials: 'include' }}).then(() => 'read', () => 'refused')"
        )
        assert page.evaluate(asked) == "refused"
        with page.expect_navigation():
            page.get_by_role("button", name="Win").click()
    ours = {(reply, status) for reply, status in replies if reply.startswith(site.url)}
    assert ours == {(f"{site.url}/", 403), (f"{site.url}/sign-out", 403)}
    assert {f"{site.url}/page/app.js", f"{site.url}/whoami"} <= set(blocked)
    page.goto("/")
    assert who(page) == "ana"
