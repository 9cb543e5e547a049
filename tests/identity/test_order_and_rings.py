"""Fingerprints of containers that differ in nothing but their order, or in where a ring closes."""

import numpy as np

from simulator.identity.fingerprint import fingerprint


def test_the_order_of_a_list_counts_and_that_of_a_set_does_not():
    one, two = np.array([1.0]), np.array([2.0])
    assert fingerprint(it=[one, two]) != fingerprint(it=[two, one])
    assert fingerprint(it={(1, "a"), (2, "b")}) == fingerprint(it={(2, "b"), (1, "a")})


def test_where_a_ring_closes_counts():
    def around(back):
        outer, inner = [], []
        outer.append(inner)
        inner.append(outer if back else inner)
        return outer

    assert fingerprint(it=around(True)) == fingerprint(it=around(True))
    assert fingerprint(it=around(True)) != fingerprint(it=around(False))
