"""Whether labels still hold for a corpus, and new labels where they do not."""
