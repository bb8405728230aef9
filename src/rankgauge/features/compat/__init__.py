"""Drop-in modules for four other systems; `rankgauge.compat` has them by their public names."""
