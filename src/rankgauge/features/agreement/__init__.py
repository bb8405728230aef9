"""Agreement: how much two runs agree, without any judgments."""
