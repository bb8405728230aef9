"""The HTML report: one file that opens by double-click, loads nothing, and runs no script but its own."""
