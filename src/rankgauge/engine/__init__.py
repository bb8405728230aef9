"""The facade: an engine knows datasets and plugins, an evaluation resolves, runs and scores."""

from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.values import SampleScore

__all__ = ["Engine", "Evaluation", "SampleScore"]
