"""The policy of the pages: nothing but their own script runs, and no text is run as one."""

import re

import pytest
from browser import look_into, opened

import correspondence as co

pytestmark = pytest.mark.slow

FROM_INSIDE = """new Promise(done => {
    const script = document.createElement("script");
    script.textContent = "window.foreign = true";
    document.body.append(script);
    setTimeout("window.fromText = true", 0);
    setTimeout(() => done([!!window.foreign, !!window.fromText]), 60);
})"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of each template."""
    folder = tmp_path_factory.mktemp("policy")
    counts, environment = co.datasets.load_dune()
    made = {
        "table": co.CA().fit(co.datasets.load_housetasks()),
        "triplot": co.CA().fit(counts, constraints=environment[["A1", "Management"]]),
        "associations": co.associations(co.datasets.load_poison()[:, 4:9]),
    }
    return {name: co.explore(one, path=folder / f"{name}.html") for name, one in made.items()}


@pytest.mark.parametrize("name", ["table", "triplot", "associations"])
def test_pages_work_under_their_own_policy_without_eval(pages, name):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', pages[name].html).group(1)
    assert "eval" not in policy
    assert policy.count("script-src") == 1
    with opened(pages[name], keeps_policy=True, viewport={"width": 1280, "height": 800}) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        assert not seen.problems
        assert look_into(seen, FROM_INSIDE) == [False, False], "neither another script nor a text is run"
        assert any("Content Security Policy" in problem for problem in seen.problems)
