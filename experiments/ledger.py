"""``make claims``: check every claim of the sources, and write the ledger down.

Both files are a function of the code alone, without time or machine: the same results give the
same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.stages import RESULTS, write_texts
from simulator.teaching import claims


def write(results: list[claims.ClaimResult], folder: Path = RESULTS) -> list[Path]:
    """Write claims.md and claims.json; return their paths."""
    texts = {"claims.md": claims.to_markdown(results), "claims.json": claims.to_json(results)}
    return write_texts(texts, folder)


def main() -> int:
    """Check, write, and return 1 when a verdict is another than recorded."""
    results = claims.run(claims.all_claims())
    for path in write(results):
        print(f"written     {path}", file=sys.stderr)
    strays = [result.claim.id for result in results if not result.as_recorded]
    if strays:
        print(f"not as recorded: {', '.join(strays)}", file=sys.stderr)
    return 1 if strays else 0


if __name__ == "__main__":
    sys.exit(main())
