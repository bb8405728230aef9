"""Small things without a subject of their own: guards, tables, plain text, logs, deprecation."""
