"""
The version, which pyproject.toml takes from here: reading it from what is installed would be slow to load.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
