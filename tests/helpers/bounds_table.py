"""The table of bounds: ``python -m tests.helpers.bounds_table`` prints it for the page on costs."""

from simulator.theory import all_bounds


def table() -> str:
    """The registered bounds with their kinds and sources, in Markdown."""
    rows = ["| bound | kind | source |", "|---|---|---|"]
    rows += [f"| `{bound.name}` | {bound.kind} | {bound.source} |" for bound in all_bounds()]
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
