"""Gates: bounds of means and of changes, as they are written, judged, worded and shown to CI systems."""
