from .generators import recorded_generator as recorded_generator
from .mechanisms import mechanism as mechanism
from .recording import record as record
from .report import (
    PipelineFinding as PipelineFinding,
    PipelineReport as PipelineReport,
)

__all__ = ["PipelineFinding", "PipelineReport", "mechanism", "record", "recorded_generator"]
