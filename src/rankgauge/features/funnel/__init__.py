"""The funnel: what each stage of a pipeline keeps of what is relevant, and where it is lost."""

from rankgauge.features.funnel.fates import Fates, Pipeline, Traced
from rankgauge.features.funnel.funnel import Funnel, FunnelStage

__all__ = ["Fates", "Funnel", "FunnelStage", "Pipeline", "Traced"]
