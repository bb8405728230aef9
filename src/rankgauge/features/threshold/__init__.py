"""Abstention: the score below which a system should say nothing, and what that costs."""
