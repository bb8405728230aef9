"""Features: each has its values, computation, words and commands in a folder, over the spine, which imports none."""
