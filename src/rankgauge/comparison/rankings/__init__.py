"""Rankings against rankings: how much two runs agree, without any judgments."""

from rankgauge.comparison.rankings.agreement import AgreementMeasure, RankAgreement

__all__ = ["AgreementMeasure", "RankAgreement"]
