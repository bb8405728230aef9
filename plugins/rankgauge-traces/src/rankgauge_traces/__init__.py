"""
Traces for rankgauge: spans of retrievers and rerankers become samples with stages, and scores become events.

`plugin` declares the commands and the reader.
"""
