"""
Make sure that there is a Java for Spark 4, for ``make test-spark``.

Where it is missing, root installs Debian's. Elsewhere this exits with 2 and says how; under ``CI=true`` it fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

PACKAGE = "openjdk-17-jre-headless"
OLDEST = 17


def main() -> int:
    if java_version() >= OLDEST:
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", PACKAGE]):
            subprocess.run(["apt-get", *arguments], env=quiet, check=False, stdout=subprocess.DEVNULL)
        if java_version() >= OLDEST:
            return 0
    sys.stderr.write(
        f"there is no Java {OLDEST} or later, which Spark needs; install it: apt-get install -y {PACKAGE}\n"
    )
    return 1 if os.environ.get("CI") == "true" else 2


def java_version() -> int:
    """Return the version of the Java that Spark would start; 0 where there is none."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")  # noqa: PTH118  # as Spark looks for it
    if not java or not shutil.which(java):
        return 0
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', told)
    return int(found[1]) if found else 0


if __name__ == "__main__":
    sys.exit(main())
