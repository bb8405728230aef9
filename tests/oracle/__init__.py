"""A second, slow and plain statement of every metric, used to check the package against."""
