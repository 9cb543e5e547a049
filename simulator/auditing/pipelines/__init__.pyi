from .generators import recorded_generator
from .mechanisms import mechanism
from .recording import record
from .report import PipelineFinding, PipelineReport

__all__ = ["PipelineFinding", "PipelineReport", "mechanism", "record", "recorded_generator"]
