"""The table of the page on loaders: ``python -m tests.helpers.loaders_table`` prints it."""

import json
import math

from experiments import stages


def rows():
    """The rows of the committed figure."""
    stored = json.loads(stages.data_path("shuffled_loaders").read_text(encoding="utf-8"))
    return stored["data"]["rows"]


def table():
    """Every loader with its claim rounded up, its lower ends rounded down, and its transcript."""
    lines = [
        "| loader | claimed | at least | at least, by play | a trial's loss, by round |",
        "|---|---|---|---|---|",
    ]
    for row in rows():
        seen = row["transcript"]
        by_round = ", ".join(f"{round(loss, 1) + 0.0:.1f}" for loss in seen["round_losses"])
        exact = row["proved"]["0.01"]
        lines.append(
            f"| {row['name']} | {math.ceil(100.0 * row['claimed']['0.01']) / 100.0:.2f} | "
            f"{'' if exact is None else _down(exact)} | {_down(row['played'])} | "
            f"{seen['loss']:.1f} = {by_round} |"
        )
    return "\n".join(lines)


def _down(number):
    return f"{math.floor(100.0 * number) / 100.0:.2f}"


if __name__ == "__main__":
    print(table())
