"""The built site: no dead link, nothing from a network; and how it shows in a real browser.

``make site-check`` builds it and runs these tests.
"""

import re

import pytest

from experiments.site import links
from experiments.site.__main__ import BUILD
from experiments.site.committed import numbers_of
from simulator.teaching.claims import all_claims
from tests.helpers.browser import in_browser, started

HTML = BUILD / "html"
PHONE, DESK = 390, 1280

pytestmark = pytest.mark.skipif(
    not (HTML / "index.html").exists(), reason="the site is not built: make site"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = started(tmp_path_factory.mktemp("profile"))
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


def show(browser, page, width):
    """Open a page at that width, and wait until its formulas are there."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get((HTML / page).as_uri())
    browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "if (window.MathJax && MathJax.startup) MathJax.startup.promise.then(done); else done();"
    )


def is_wide(browser):
    """Whether the page is wider than the phone; a phone's window grows with what is in it."""
    return browser.execute_script("return document.documentElement.scrollWidth") > PHONE


def pages():
    return sorted(path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))


def test_no_link_or_picture_is_missing_and_nothing_comes_from_a_network():
    assert links.broken(HTML) == []


def test_every_claim_has_its_page_and_its_picture():
    for claim in all_claims():
        if not numbers_of(claim):
            continue  # nothing to turn
        page = (HTML / "ledger" / f"{claim.id}.html").read_text(encoding="utf-8")
        assert re.search(rf"{re.escape(claim.id)}-\w+\.svg", page), claim.id


@in_browser
def test_every_page_fits_a_phone_and_shows_its_pictures_without_an_error(browser):
    wrong = []
    for page in pages():
        show(browser, page, PHONE)
        empty, bad = browser.execute_script(
            "return [[...document.images].filter(i => i.complete && !i.naturalWidth).length,"
            " document.querySelectorAll('mjx-merror').length]"
        )
        told = [entry["message"] for entry in browser.get_log("browser")]
        if is_wide(browser) or empty or bad or told:
            wrong.append((page, is_wide(browser), empty, bad, told))
    assert wrong == []


@in_browser
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_formulas_are_rendered(browser, width):
    show(browser, "class/3_azuma_against_the_truth.html", width)
    assert len(browser.find_elements("css selector", "mjx-container svg")) > 40
    text = browser.find_element("css selector", "article").text
    assert "\\varepsilon" not in text
    assert "$" not in text


@in_browser
def test_a_page_that_is_too_wide_is_seen(browser):
    show(browser, "index.html", PHONE)
    assert not is_wide(browser)
    browser.execute_script(
        "document.body.insertAdjacentHTML('beforeend', '<div style=\"width:900px\">x</div>')"
    )
    assert is_wide(browser)


@in_browser
@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("azuma", "class/3_azuma_against_the_truth.html"),
        ("ten thousand databases", "class/4_bobs_ten_thousand_databases.html"),
        ("worst_case", "reference/simulator.html"),
        ("randomized response", "gallery/randomized_response.html"),
    ],
)
def test_search_finds(browser, query, page):
    from selenium.common.exceptions import StaleElementReferenceException as Stale
    from selenium.webdriver.support.ui import WebDriverWait

    show(browser, "index.html", DESK)
    box = browser.find_element("css selector", "input[name=q]")
    box.send_keys(query + "\n")

    def there(b):
        found = b.find_elements("css selector", "ul.search li a")
        return any(page in (link.get_attribute("href") or "") for link in found)

    # the old page goes away while it is looked at
    WebDriverWait(browser, 60, ignored_exceptions=[Stale]).until(there)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
