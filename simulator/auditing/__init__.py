"""Black boxes on trial: what their answers prove against the guarantee that they claim."""

from simulator.auditing.audit import audit, audit_answers
from simulator.auditing.compositions import audit_composition, audit_views
from simulator.auditing.events import Event
from simulator.auditing.result import AuditResult

__all__ = ["AuditResult", "Event", "audit", "audit_answers", "audit_composition", "audit_views"]
