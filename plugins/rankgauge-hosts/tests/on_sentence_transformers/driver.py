"""Models have no samples, but texts that they rank; the modules beside this one compare with the libraries' numbers."""

DRIVERS: dict[str, object] = {}
