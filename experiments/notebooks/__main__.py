"""``make notebooks``: execute the notebooks, and write their outputs."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from experiments.notebooks.running import differences, executed, paths, read, write
from simulator.foundations.errors import DpcomposeError, InvalidInput


def main(names: Sequence[str]) -> int:
    """Execute the notebooks of those names, or all; with ``--check`` compare and write nothing."""
    check = "--check" in names
    wanted = [name for name in names if name != "--check"]
    try:
        if unknown := set(wanted) - {path.stem for path in paths()}:
            listed = ", ".join(path.stem for path in paths())
            raise InvalidInput(f"no notebook {min(unknown)!r}; there are {listed}")
        stale = 0
        for path in paths():
            if wanted and path.stem not in wanted:
                continue
            start, old = time.perf_counter(), read(path)
            new = executed(old)
            if check:
                found = differences(old, new)
                stale += bool(found)
                print("\n".join([f"{path.name}: {len(found)} cells differ", *found]))
            else:
                write(new, path)
                print(f"written     {path} ({time.perf_counter() - start:.0f} s)", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except DpcomposeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InvalidInput) else 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
