"""Scoring: a plan and judged batches become values, each with a status and a reason."""
