from .compositions import audit_composition, audit_views
from .events import Event
from .result import AuditResult
from .trial import audit, audit_answers

__all__ = ["AuditResult", "Event", "audit", "audit_answers", "audit_composition", "audit_views"]
