"""What the README says of the ledger: no number of claims that nothing holds."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNTED = re.compile(r"\b\d+ (?:claims|rows)\b")


def counted(text):
    return COUNTED.findall(text)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_no_page_counts_the_claims_by_hand(name):
    assert counted((ROOT / name).read_text(encoding="utf-8")) == []


def test_a_count_is_found():
    assert counted("it runs some 180 claims of five notes") == ["180 claims"]
