from .audits import AuditResult, audit, audit_answers, audit_composition, audit_views
from .pipelines import PipelineReport, mechanism, record
from .testing import (
    PrivacyViolation,
    assert_accountant,
    assert_composition,
    assert_pipeline,
    assert_private,
)

__all__ = [
    "AuditResult",
    "PipelineReport",
    "PrivacyViolation",
    "assert_accountant",
    "assert_composition",
    "assert_pipeline",
    "assert_private",
    "audit",
    "audit_answers",
    "audit_composition",
    "audit_views",
    "mechanism",
    "record",
]
