"""Accountants that answer with what is no epsilon, or write where replies are expected."""

import math
import os
import sys
import time

from simulator.auditing.conformance.events import PURE
from simulator.auditing.conformance.protocol import Library, Subject


class Answers:
    """One answer to every question."""

    def __init__(self, answer):
        self.answer = answer

    def epsilon(self, events, delta):
        return self.answer

    delta = epsilon


class Declines:
    def epsilon(self, events, delta):
        raise ValueError("such a small delta is out of reach")

    delta = epsilon


class WritesReplies:
    """Finds the pipe that replies go through, and writes into it."""

    def __init__(self, text):
        self.text = text

    def epsilon(self, events, delta):
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, self.text)
            except OSError:
                continue
        return 1.0

    delta = epsilon


class Prints:
    def epsilon(self, events, delta):
        print("{}", flush=True)
        sys.stderr.write("noise\n" * 10000)
        return sum(event.parameter * event.count for event in events)

    delta = epsilon


class Busy:
    """Says by a file that it has begun, and does not end."""

    def epsilon(self, events, delta):
        with open(os.environ["BUSY"], "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
        time.sleep(600)

    delta = epsilon


MADE = {
    "NaN": lambda: Answers(math.nan),
    "infinite": lambda: Answers(math.inf),
    "minus infinity": lambda: Answers(-math.inf),
    "text": lambda: Answers("3.0"),
    "nothing": lambda: Answers(None),
    "list": lambda: Answers([1.0, 2.0]),
    "complex": lambda: Answers(1j),
    "huge": lambda: Answers(10**400),
    "truth value": lambda: Answers(True),
    "declines": Declines,
    "writes rubbish": lambda: WritesReplies(b"not a reply\n"),
    "writes a number": lambda: WritesReplies(b"3\n"),
    "writes without end": lambda: WritesReplies(b"\xff" * 4096),
    "prints": Prints,
}
if "BUSY" in os.environ:
    MADE = {"busy": Busy}


def load():
    return [
        Subject(
            name=name,
            role="accountant",
            make=make,
            claims="nothing",
            kinds=(PURE,),
            declines=("out of reach",),
        )
        for name, make in MADE.items()
    ]


LIBRARY = Library(name="rubbish", distribution="dpcompose", packages=(), load=load, extra="")
