"""
Make sure that there is a Chromium, for ``make test-browser``.

Where it is missing, root installs Debian's. Elsewhere this exits with 2 and says how; under ``CI=true`` it fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
COMMAND = "apt-get install -y chromium"


def main() -> int:
    if any(map(shutil.which, NAMES)):
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "chromium"]):
            subprocess.run(["apt-get", *arguments], env=quiet, check=False, stdout=subprocess.DEVNULL)  # noqa: S607
        if any(map(shutil.which, NAMES)):
            return 0
    sys.stderr.write(f"there is no Chromium, which the browser tests drive; install it: {COMMAND}\n")
    return 1 if os.environ.get("CI") == "true" else 2


if __name__ == "__main__":
    sys.exit(main())
