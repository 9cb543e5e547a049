from .audits import (
    AuditResult as AuditResult,
    OneRunAudit as OneRunAudit,
    audit as audit,
    audit_answers as audit_answers,
    audit_composition as audit_composition,
    audit_one_run as audit_one_run,
    audit_views as audit_views,
)
from .pipelines import (
    PipelineReport as PipelineReport,
    mechanism as mechanism,
    record as record,
)
from .testing import (
    PrivacyViolation as PrivacyViolation,
    assert_accountant as assert_accountant,
    assert_composition as assert_composition,
    assert_pipeline as assert_pipeline,
    assert_private as assert_private,
)

__all__ = [
    "AuditResult",
    "OneRunAudit",
    "PipelineReport",
    "PrivacyViolation",
    "assert_accountant",
    "assert_composition",
    "assert_pipeline",
    "assert_private",
    "audit",
    "audit_answers",
    "audit_composition",
    "audit_one_run",
    "audit_views",
    "mechanism",
    "record",
]
