"""The test file of the page on CI runs as it stands, and a failure prints what it shows."""

import re

from experiments import stages

pytest_plugins = ["pytester"]

PAGE = stages.ROOT / "experiments" / "site" / "pages" / "howto" / "ci.md"
SECTION = PAGE.read_text(encoding="utf-8").split("\n## ")[0]
(PROGRAM,) = re.findall(r"```python\n(.*?)```", SECTION, flags=re.DOTALL)
SHOWN = re.findall(r"^    (.*)$", SECTION.replace(PROGRAM, ""), flags=re.MULTILINE)


def without_numbers(line):
    """A line of the message: which event shows it depends on how the audit learns."""
    spaced = " ".join(line.removeprefix("E").split())
    if spaced.startswith(("event ", "one answer ")):
        return spaced.split()[0]
    return re.sub(r"\d[\d,.]*(e-\d+)?", "#", spaced.partition("PrivacyViolation: ")[2] or spaced)


def test_the_file_catches_what_is_broken(session, pytester):
    (pytester.path / "test_privacy.py").write_text(PROGRAM, encoding="utf-8")
    result = session()
    result.assert_outcomes(passed=1, failed=2)
    printed = [without_numbers(line) for line in result.outlines]
    assert len(SHOWN) > 5
    for line in SHOWN:
        assert without_numbers(line) in printed, line
    assert re.search(r"FAILED test_privacy\.py::test_total ", result.stdout.str())
    assert re.search(r"FAILED test_privacy\.py::test_accountant ", result.stdout.str())
    assert any(line.startswith("dpcompose: # assertions,") for line in printed)


def test_it_is_as_short_as_it_should_be():
    assert len(PROGRAM.splitlines()) <= 24


def test_the_file_of_the_page_on_pipelines_passes(session, pytester):
    page = PAGE.with_name("pipelines.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (program,) = [each for each in programs if "def test_" in each]
    (pytester.path / "test_pipelines.py").write_text(program, encoding="utf-8")
    session().assert_outcomes(passed=1)
