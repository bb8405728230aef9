"""Prediction-powered comparison: means judged by a model, and corrected by what people said of some questions."""
