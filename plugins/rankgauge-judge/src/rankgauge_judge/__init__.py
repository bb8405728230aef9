"""
Judges for rankgauge: models that fill in queues, and how far judges can be believed.

Once installed, it adds commands to `rankgauge judge`.
"""
