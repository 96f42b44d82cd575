"""A real browser for tests of pages: offline, and it notes whatever a page does that it should not."""

import asyncio
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass
class Opened:
    """A page in the browser, and what happened on it."""

    page: object
    problems: list = field(default_factory=list)
    requests: list = field(default_factory=list)


@contextmanager
def opened(path, keeps_policy=False, **options):
    """Open a file in a fresh context of chromium; the test is skipped when there is none.

    `page.evaluate` needs eval, which the policy of a page forbids: it is only obeyed if `keeps_policy`, and `look_into`
    then looks into the page.
    """
    with _BROWSER.at_work() as browser:
        context = browser.new_context(**{"offline": True, "bypass_csp": not keeps_policy, **options})
        try:
            seen = Opened(context.new_page())
            _listen(seen)
            seen.page.goto(Path(path).resolve().as_uri())
            yield seen
        finally:
            context.close()


@contextmanager
def visited(address, **options):
    """Visit a server of this machine in a fresh context of chromium."""
    with _BROWSER.at_work() as browser:
        context = browser.new_context(**options)
        try:
            seen = Opened(context.new_page())
            seen.page.goto(address)
            yield seen.page
        finally:
            context.close()


def look_into(seen, expression):
    """Evaluate an expression (it may be a promise) in a page whose policy is kept, as the console of a browser does."""
    session = seen.page.context.new_cdp_session(seen.page)
    found = session.send(
        "Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
    )
    session.detach()
    if "exceptionDetails" in found:
        raise AssertionError(found["exceptionDetails"])
    return found["result"].get("value")


class _Browser:
    """One browser for all tests of this process: it takes longer to start than most tests take."""

    def __init__(self):
        self.stack, self.browser, self.loop = ExitStack(), None, None

    @contextmanager
    def at_work(self):
        """Let the event loop of the driver run, and hide it from other tests afterwards: they have their own."""
        if self.browser is None:
            self._start()
        asyncio._set_running_loop(self.loop)
        try:
            yield self.browser
        finally:
            asyncio._set_running_loop(None)

    def _start(self):
        playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
        chromium = shutil.which("chromium")
        if chromium is None:
            pytest.skip("chromium is not installed")
        driver = self.stack.enter_context(playwright.sync_playwright())
        self.loop = asyncio.get_running_loop()
        options = {"executable_path": chromium, "args": ["--no-sandbox", "--disable-gpu"]}
        try:
            self.browser = driver.chromium.launch(**options)
        except BaseException:
            self.close()
            raise
        self.stack.callback(self.browser.close)

    def close(self):
        """Close the browser, if one was started; the next test starts another."""
        asyncio._set_running_loop(self.loop)
        try:
            self.stack.close()
        finally:
            asyncio._set_running_loop(None)
            self.__init__()


_BROWSER = _Browser()
close = _BROWSER.close


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
