from .audit import audit, audit_answers
from .compositions import audit_composition, audit_views
from .events import Event
from .result import AuditResult

__all__ = ["AuditResult", "Event", "audit", "audit_answers", "audit_composition", "audit_views"]
