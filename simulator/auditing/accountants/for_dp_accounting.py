"""An accountant for dp_accounting (Google), with certified upper ends."""

from __future__ import annotations

from typing import Any

from dp_accounting import dp_event
from dp_accounting.privacy_accountant import NeighboringRelation, PrivacyAccountant

from simulator.auditing.accountants.certified import delta_above, epsilon_above
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.theory.bracket import Bracket
from simulator.theory.events import Account, from_dp_accounting
from simulator.theory.events.units import ADD_REMOVE, REPLACE_ONE, REPLACE_SPECIAL, Neighbours

_RELATIONS: dict[Any, Neighbours] = {
    NeighboringRelation.ADD_OR_REMOVE_ONE: ADD_REMOVE,
    NeighboringRelation.REPLACE_ONE: REPLACE_ONE,
    NeighboringRelation.REPLACE_SPECIAL: REPLACE_SPECIAL,
}


class CertifiedDpAccountant(PrivacyAccountant):
    """A ``PrivacyAccountant`` whose epsilons and deltas are certified upper ends.

    ``CertifiedDpAccountant().compose(event, 1000).get_epsilon(1e-5)``; it goes wherever
    ``RdpAccountant()`` or ``PLDAccountant()`` does. :meth:`bracket` has both ends.

    Parameters
    ----------
    neighboring_relation : add or remove one, or replace one by a special record: then a sum of
        values of norm C moves by C; or replace one by any other: then it moves by 2C.
    records : of a group in which neighbours differ.

    Raises InvalidInput for another relation.
    """

    def __init__(
        self,
        neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
        records: int = 1,
    ) -> None:
        if neighboring_relation not in _RELATIONS:
            raise InvalidInput(f"no account is known under {neighboring_relation}")
        super().__init__(neighboring_relation)
        self._account = Account(relation=_RELATIONS[neighboring_relation], records=records)
        self._without_privacy = False

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        """The first sub-event that has no theorem, or None; ``do_compose`` charges the event."""
        if isinstance(event, dp_event.NonPrivateDpEvent):
            self._without_privacy |= do_compose and count > 0
            return None
        if isinstance(event, dp_event.ComposedDpEvent):
            found = (self._maybe_compose(each, count, do_compose) for each in event.events)
            return next((error for error in found if error is not None), None)
        if isinstance(event, dp_event.SelfComposedDpEvent):
            return self._maybe_compose(event.event, count * event.count, do_compose)
        try:
            read = from_dp_accounting(event, self._account.relation, self._account.records)
            list(read.rounds)  # that there is a theorem for every round
        except DpcomposeError as error:
            return self.CompositionErrorDetails(event, str(error))
        if do_compose and count > 0:
            self._account = self._account.then(read.event, count)
        return None

    def get_epsilon(self, target_delta: float) -> float:
        """An epsilon that certainly holds at ``target_delta`` in [0, 1]."""
        if self._without_privacy:
            return float("inf")
        return epsilon_above(self._account, float(target_delta))

    def get_delta(self, target_epsilon: float) -> float:
        """A delta that certainly holds at ``target_epsilon`` >= 0."""
        if self._without_privacy:
            return 1.0
        return delta_above(self._account, float(target_epsilon))

    def bracket(self, target_delta: float) -> Bracket:
        """Certified ends of epsilon at ``target_delta`` in [1e-300, 1)."""
        if self._without_privacy:
            return Bracket(float("inf"), float("inf"))
        return self._account.epsilon(float(target_delta))
