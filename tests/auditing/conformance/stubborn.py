"""Accountants that hang, die or devour memory: each costs a call, and a new worker."""

import os
import time

from simulator.auditing.conformance.events import PURE
from simulator.auditing.conformance.protocol import Library, Subject


class Hangs:
    def epsilon(self, events, delta):
        time.sleep(60)

    delta = epsilon


class Dies:
    def epsilon(self, events, delta):
        os._exit(3)

    delta = epsilon


class Devours:
    def epsilon(self, events, delta):
        return float(len(bytearray(2**33)))

    delta = epsilon


class Answers:
    def epsilon(self, events, delta):
        return sum(event.parameter * event.count for event in events)

    delta = epsilon


MADE = {"hangs": Hangs, "dies": Dies, "devours": Devours, "answers": Answers}


def load():
    return [
        Subject(name=name, role="accountant", make=make, claims="the truth", kinds=(PURE,))
        for name, make in MADE.items()
    ]


LIBRARY = Library(
    name="stubborn", distribution="dpcompose", packages=(), load=load, megabytes=1024, extra=""
)
