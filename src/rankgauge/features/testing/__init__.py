"""Laws that metrics, matchers and their parts, tokenizers and plugins are held to; `rankgauge.testing` is public."""
