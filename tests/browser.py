"""A real browser for tests of pages: offline, and it notes whatever a page does that it should not."""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest


@dataclass
class Opened:
    """A page in the browser, and what happened on it."""

    page: object
    problems: list = field(default_factory=list)
    requests: list = field(default_factory=list)


@contextmanager
def opened(path, **options):
    """Open a file in chromium; the test is skipped when there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        try:
            seen = Opened(browser.new_context(offline=True, **options).new_page())
            _listen(seen)
            seen.page.goto(path.resolve().as_uri())
            yield seen
        finally:
            browser.close()


def _listen(seen):
    def dismiss(dialog):
        seen.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def note(message):
        is_driver = "GL Driver Message" in message.text  # of the software renderer, about itself
        if message.type in ("error", "warning") and not is_driver:
            seen.problems.append(f"console: {message.text}")

    seen.page.on("dialog", dismiss)
    seen.page.on("console", note)
    seen.page.on("pageerror", lambda error: seen.problems.append(f"script: {error}"))
    seen.page.on("request", lambda request: seen.requests.append(request.url))
