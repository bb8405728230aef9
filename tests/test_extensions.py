"""What features add to the rooms below them is there, and is asked for by a name that the table has."""

import re
from pathlib import Path

import rankgauge
from rankgauge.extensions import POINTS, extension
from tables import rows

SOURCE = Path(rankgauge.__file__).parent


@rows("point", POINTS)
def test_every_point_leads_to_a_function_of_a_feature(point):
    assert POINTS[point].startswith("rankgauge.features.")
    assert extension(point).__module__ == POINTS[point].partition(":")[0]


def test_every_point_is_asked_for_and_every_name_is_a_point():
    below = [file for file in SOURCE.rglob("*.py") if "features" not in file.parts]
    asked = {name for file in below for name in re.findall(r"\bextension\(\"([^\"]+)\"\)", file.read_text("utf-8"))}
    assert asked == POINTS.keys()
