"""``python -m rankgauge``: the command line."""

from rankgauge.cli import main

if __name__ == "__main__":
    main()
