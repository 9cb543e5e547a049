"""Small adversaries of a study, as texts of a file and as functions."""

from simulator import Database, Laplace, RandomizedResponse, counting_query

NOBODY, BOB = Database({"others": 10}), Database({"others": 10, "bob": 1})
IS_BOB = counting_query("bob")


def steady(coins):
    """Ask one mechanism in every round."""
    while True:
        yield NOBODY, BOB, RandomizedResponse(IS_BOB, 0.2)


def adaptive(coins):
    """Ask for more after a large answer."""
    epsilon = 0.1
    while True:
        answer = yield NOBODY, BOB, Laplace(IS_BOB, epsilon)
        epsilon = 0.2 if answer > 0.5 else 0.1


def raising(coins):
    """Fail in the second round."""
    yield NOBODY, BOB, Laplace(IS_BOB, 0.1)
    raise RuntimeError("no second round")


def leaving(coins):
    """End the process that plays it."""
    import os

    yield NOBODY, BOB, Laplace(IS_BOB, 0.1)
    os._exit(1)
