"""
Pairs of texts, each with the verdict that people who wrote the ground truth would give: is the gold text found?
"""

# ruff: noqa: E501, RUF001  # texts as they are, in several scripts
from __future__ import annotations

import pytest

from rankgauge.matchers.cover import cover
from tables import rows

FERRY = "The ferry to Bergen leaves from the old pier at nine, and the trip takes almost two hours in calm weather."
PUMP = "The price of the large pump in Rotterdam is 14 euros per day of use."

FOUND = [
    pytest.param(
        PUMP,
        PUMP,
        id="same",
    ),
    pytest.param(
        "You cannot return the goods after thirty days from the day of the purchase.",
        "You can't return the goods after thirty days from the day of the purchase.",
        id="cannot vs can't",
    ),
    pytest.param(
        "The town has 12,500 inhabitants and two schools.",
        "The town has 12500 inhabitants and two schools.",
        id="thousands",
    ),
    pytest.param(
        "A ticket costs 2.50 euros on weekdays and 3.00 on Sundays.",
        "A ticket costs 2.5 euros on weekdays and 3 on Sundays.",
        id="zeros",
    ),
    pytest.param(
        "12,500",
        "about 12500 people",
        id="short thousands",
    ),
    pytest.param(
        PUMP,
        "Prices of tools, spring 2024\nThe price of the large pump in Rotterdam is 14 euros per day of use.",
        id="title line",
    ),
    pytest.param(
        FERRY,
        "Ferries | Timetable | Harbour of Stavanger\nleaves from the old pier at nine, and the trip takes almost two hours in calm weather.",
        id="title line partial",
    ),
    pytest.param(
        FERRY,
        "This chunk is from the page on ferries of the harbour office: leaves from the old pier at nine, and the trip takes almost two hours in calm weather.",
        id="context prefix",
    ),
    pytest.param(
        FERRY,
        "This chunk describes ferries of the Harbour Office in 2023. leaves from the old pier at nine, and the trip takes almost two hours in calm weather.",
        id="context sentence",
    ),
    pytest.param(
        FERRY,
        "The ferry to Bergen leaves from the old pier at nine, and the trip\nPage 3 of 9\ntakes almost two hours in calm weather.",
        id="page footer",
    ),
    pytest.param(
        FERRY,
        "The ferry to Bergen leaves from the old pier at nine, and the trip\nPage 3 of 9",
        id="page footer end",
    ),
    pytest.param(
        FERRY,
        "The ferry to Bergen leaves ... the trip takes almost two hours in calm",
        id="snippets",
    ),
    pytest.param(
        FERRY,
        "Harbour news 2024 ... ferry to Bergen leaves from the old pier ... the trip takes almost two hours ... Contact Ms Holm",
        id="snippets own words",
    ),
    pytest.param(
        FERRY,
        "…ferry to Bergen leaves from the old pier at nine…takes almost two hours in calm weather…",
        id="ellipsis char",
    ),
    pytest.param(
        "The ferry to Bergen leaves from the old pier at nine, and the trip takes almost two hours.",
        "<p>The <b>ferry</b> to <a href='x'>Bergen</a> leaves from the <i>old pier</i> at nine, and the trip takes almost two hours.</p>",
        id="markup",
    ),
    pytest.param(
        "The ferry to Bergen leaves from the old pier at nine, and the trip takes almost two hours.",
        "The **ferry** to [Bergen](https://x.y/z?a=1) leaves from the _old pier_ at nine, and the trip takes almost two hours.",
        id="markdown",
    ),
    pytest.param(
        "The ferry to Bergen leaves from the old pier at nine, and the trip takes almost two hours.",
        "The ferry to Bergen[12] leaves from the old pier (see note 4) at nine, and the trip takes almost two hours.",
        id="footnote",
    ),
    pytest.param(
        "The ferry to Bergen leaves from the old pier at nine, and the trip takes almost two hours.",
        "rry to Bergen leaves from the old pier at nine, and the trip ta",
        id="cut words",
    ),
    pytest.param(
        "The ferry to Bergen leaves from the old pier at nine, and the fare is 12,500 crowns for a car.",
        "The ferry to Bergen leaves from the old pier at nine, and the fare is 12,5",
        id="cut number",
    ),
    pytest.param(
        "The ferry to Bergen leaves from the old pier at nine, and the transportation takes almost two hours.",
        "The ferry to Bergen leaves from the old pier at nine, and the transpor-\ntation takes almost two hours.",
        id="hyphen at line end",
    ),
    pytest.param(
        "The ferry to Bergen leaves from the old pier at nine in the morning, and the trip takes almost two hours.",
        "The ferry to Bergen leaves from the old peir at nine in the morning, and the trip takes almost two hours.",
        id="typo",
    ),
    pytest.param(
        "Le café près de l'hôtel ferme à dix heures du soir.",
        "Le cafe pres de l'hotel ferme a dix heures du soir.",
        id="accents",
    ),
    pytest.param(
        "يبلغ ارتفاع البرج ٤٥ مترا فوق مستوى سطح البحر في المدينة",
        "يبلغ ارتفاع البرج ٤٥ مترا فوق مستوى سطح البحر في المدينة",
        id="arabic digits same",
    ),
    pytest.param(
        "The town has 12,500 inhabitants and two schools.",
        "The town has １２，５００ inhabitants and two schools.",
        id="fullwidth",
    ),
    pytest.param(
        "东京是日本的首都，人口超过一千万，是世界上最大的城市之一。",
        "大家知道，东京是日本的首都，人口超过一千万，是世界上最大的城市之一。其他内容。",
        id="chinese same",
    ),
    pytest.param(
        "东京是日本的首都",
        "大家知道东京是日本的首都。",
        id="chinese short",
    ),
    pytest.param(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa",
        "alpha beta gamma delta epsilon",
        id="half",
    ),
    pytest.param(
        "# Pumps\nThe price of the large pump in Rotterdam is 14 euros per day.",
        "The price of the large pump in Rotterdam is 14 euros per day.",
        id="gold title",
    ),
    pytest.param(
        'He said: "the ferry leaves at nine", and then he left the room.',
        'He said: \\"the ferry leaves at nine\\", and then\\nhe left the room.',
        id="json",
    ),
    pytest.param(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa",
        "zeta eta theta iota kappa mu alpha beta gamma delta epsilon",
        id="order",
    ),
    pytest.param(
        "The office opens at eight and the first file is ready by noon.",
        "The oﬃce opens at eight and the ﬁrst ﬁle is ready by noon.",
        id="ligature",
    ),
    pytest.param(
        "The transportation office opens at eight in the morning.",
        "The trans\xadportation office opens at eight in the morning.",
        id="soft hyphen",
    ),
    pytest.param(
        "The office opens at eight in the morning on every weekday.",
        "THE OFFICE OPENS AT EIGHT IN THE MORNING ON EVERY WEEKDAY.",
        id="caps",
    ),
]

NOT_FOUND = [
    pytest.param(
        PUMP,
        "the",
        id="the",
    ),
    pytest.param(
        "Ferries leave Harwich every day at nine in the morning and at eleven at night.",
        "# Ferries",
        id="heading",
    ),
    pytest.param(
        "This is page three of nine pages in the manual, see Page 3 of 9 for more.",
        "Page 3 of 9",
        id="footer only",
    ),
    pytest.param(
        "Total revenue was 412.6 million dollars, compared with 388.1 million dollars in the year before.",
        "Total revenue was 455.9 million dollars, compared with 412.6 million dollars in the year before.",
        id="a number of the year before, and of this year",
    ),
    pytest.param(
        PUMP,
        "The price of the small oven in Hamburg is 12 euros per day of use.",
        id="oven/pump",
    ),
    pytest.param(
        PUMP,
        "The price of the large pump in Antwerp is 14 euros per day of use.",
        id="city only",
    ),
    pytest.param(
        PUMP,
        "The price of the large pump in Rotterdam is 15 euros per day of use.",
        id="number only",
    ),
    pytest.param(
        "The price of the large pump in Rotterdam is fourteen euros per day of use.",
        "The price of the large pump in Rotterdam is fifteen euros per day of use.",
        id="number words",
    ),
    pytest.param(
        "The request for a new building was approved by the council on the third of May.",
        "The request for a new building was not approved by the council on the third of May.",
        id="negated",
    ),
    pytest.param(
        "The request for a new building was not approved by the council on the third of May.",
        "The request for a new building was approved by the council on the third of May.",
        id="negated2",
    ),
    pytest.param(
        "The request for a new building is approved by the council on the third of May.",
        "The request for a new building isn't approved by the council on the third of May.",
        id="isn't",
    ),
    pytest.param(
        "The request for a new building was approved by the council on the third of May.",
        "The request for a new building was never approved by the council on the third of May.",
        id="never",
    ),
    pytest.param(
        "was approved",
        "The plan was not approved.",
        id="short neg",
    ),
    pytest.param(
        "The fault in the parser was mended in version 4.12.3 of the server.",
        "The fault in the parser was mended in version 4.12.8 of the server.",
        id="version",
    ),
    pytest.param(
        "The fault in the parser was mended in version 4.12.3",
        "The fault in the parser was mended in version 4.12.8",
        id="version at end",
    ),
    pytest.param(
        "mended in version 4.12.3",
        "mended in version 4.12.8",
        id="version short",
    ),
    pytest.param(
        "The fault in the parser was mended in version 4.12.3.",
        "The fault in the parser was mended in version 4.12.8.",
        id="version dot",
    ),
    pytest.param(
        "41",
        "born in 1941",
        id="short number inside",
    ),
    pytest.param(
        "Chapter IV of the treaty deals with fishing rights in the northern waters.",
        "Chapter VI of the treaty deals with fishing rights in the northern waters.",
        id="Roman",
    ),
    pytest.param(
        "In part IV of the treaty fishing rights in the northern waters are dealt with.",
        "In part VI of the treaty fishing rights in the northern waters are dealt with.",
        id="Roman mid",
    ),
    pytest.param(
        "In part IV of the treaty fishing rights in the northern waters are dealt with.",
        "In part 4 of the treaty fishing rights in the northern waters are dealt with.",
        id="Roman vs 4",
    ),
    pytest.param(
        "The tower has four bells, which are rung every Sunday at noon.",
        "The tower has five bells, which are rung every Sunday at noon.",
        id="number word vs digits",
    ),
    pytest.param(
        "يبلغ ارتفاع البرج ٤٥ مترا فوق مستوى سطح البحر في المدينة",
        "يبلغ ارتفاع البرج ٤٦ مترا فوق مستوى سطح البحر في المدينة",
        id="arabic digits",
    ),
    pytest.param(
        "यह पुल १२ मीटर ऊँचा है और नदी के ऊपर से जाता है",
        "यह पुल १३ मीटर ऊँचा है और नदी के ऊपर से जाता है",
        id="devanagari",
    ),
    pytest.param(
        "The gateway of the lab is 192.168.4.20 and answers on port 8080.",
        "The gateway of the lab is 192.168.4.21 and answers on port 8080.",
        id="ip",
    ),
    pytest.param(
        "The certificate for the server expires on 2024-03-11 at midnight.",
        "The certificate for the server expires on 2024-03-12 at midnight.",
        id="date",
    ),
    pytest.param(
        "Order the spare filter B7700 for the kitchen unit from the catalogue.",
        "Order the spare filter B7701 for the kitchen unit from the catalogue.",
        id="part no",
    ),
    pytest.param(
        "Set max_retries to a higher value when the network is slow at night.",
        "Set min_retries to a higher value when the network is slow at night.",
        id="identifier",
    ),
    pytest.param(
        "位于南京的工厂已获得董事会批准进行扩建，预计明年开始施工。",
        "位于南京的工厂未获得董事会批准进行扩建，预计明年开始施工。",
        id="chinese neg",
    ),
    pytest.param(
        "在上海租用一台大型轴承的价格是每天50元，费用在每月月底支付。",
        "在上海租用一台大型轴承的价格是每天60元，费用在每月月底支付。",
        id="chinese number",
    ),
    pytest.param(
        "在上海租用一台大型轴承的价格是每天50元，费用在每月月底支付。",
        "在南京租用一台大型轴承的价格是每天50元，费用在每月月底支付。",
        id="chinese city",
    ),
    pytest.param(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa",
        "alpha beta gamma",
        id="less",
    ),
    pytest.param(
        "Contact us by phone. The price of the large pump in Rotterdam is 14 euros. All prices include taxes.",
        "Contact us by phone. The price of the small oven in Hamburg is 12 euros. All prices include taxes.",
        id="sibling boiler",
    ),
    pytest.param(
        "In 2019 the museum bought a painting by an unknown master of the north.",
        "In 2018 the museum bought a painting by an unknown master of the north.",
        id="date prefix page",
    ),
    pytest.param(
        "Sales grew by 5 percent in the first quarter of the year.",
        "Sales grew by 6 percent in the first quarter of the year.",
        id="percent",
    ),
    pytest.param(
        "The fine for late return is $30 for each started week.",
        "The fine for late return is $35 for each started week.",
        id="currency",
    ),
    pytest.param(
        "one two three four five",
        "one two three four six",
        id="five words not whole",
    ),
]


def share(gold: str, retrieved: str) -> float:
    """Return which share of a gold text a retrieved one covers."""
    return float(cover([retrieved], [gold]).scores()[0, 0])


@rows(("gold", "retrieved"), FOUND)
def test_half_of_it_stands_there(gold: str, retrieved: str) -> None:
    assert share(gold, retrieved) >= 0.5


@rows(("gold", "retrieved"), NOT_FOUND)
def test_it_does_not_stand_there(gold: str, retrieved: str) -> None:
    assert share(gold, retrieved) < 0.5
