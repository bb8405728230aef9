"""
Search engines as systems under test: called from a config, loaded with documents, and tried with other options.
"""
