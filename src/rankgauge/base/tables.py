"""
Tables in plain text, as wide as they have to be or as narrow as they can; rich takes longer to load than a small run.

No value is cut. Where a table is wider than it may be, the least important columns are dropped, which the reader is
told, what is still too wide goes on below under the same first column, and where not even one column fits beside it,
each row becomes a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rankgauge.base.plain_text import visible

__all__ = [
    "Line",
    "aligned",
    "cell",
    "folded",
    "html_table",
    "left_out_line",
    "listing",
    "markdown_table",
    "preformatted",
    "ruled",
    "side_by_side",
    "text_width",
    "unlinked",
    "without_least",
]

_GAP = "  "
_WIDE_GAP = "   "
_MARGIN = "  "

_NARROWEST, _LEAST = 12, 8
"""How narrow the first column of a table is made, and any other column of a listing, so that all fit."""


class Line(NamedTuple):
    """
    A line of a report for a terminal.

    Attributes:
        text: What it says.

        role: Whether it is a heading, a row, a note under them, small print, or a verdict: good, bad or open.

        word: The part of a row that has the colour of its role; empty for all of it.
    """

    text: str
    role: str = "note"
    word: str = ""


_NARROW = re.compile("[\x00-\x7f\xb7\u2500\u2581-\u2588]*")
"""Texts whose letters take one column each for certain, with what lines and histograms are drawn with."""


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if _NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def aligned(table: Sequence[Sequence[str]], width: int | None = None) -> Iterator[str]:
    """
    Yield the rows of a table, header first, as lines: the first column to the left, numbers to the right.

    The first column is folded if that makes the table no wider than *width*; else there are several parts.
    """
    shown = [[visible(cell) for cell in row] for row in table]
    if width is None:
        widths = _widths(shown)
        yield from (_joined(row, widths, _GAP) for row in shown)
        return
    longest, others = (max(map(text_width, (row[0] for row in shown)), default=0), _widths(shown)[1:])
    least, whole = min(longest, _NARROWEST), sum(others) + len(_GAP) * len(others)
    room = width - whole
    if room < least:
        room = min(width - max(others, default=0) - len(_GAP), max(width // 2, least))
    if room < least:
        yield from _listed(shown, width)
        return
    names = [folded(row[0], room) for row in shown]
    narrow = [[max(name, key=text_width), *row[1:]] for name, row in zip(names, shown, strict=True)]
    for number, places in enumerate(_parts(narrow, width, gap=_GAP, margins=0)):
        if number:
            yield ""
        widths = _widths([[row[place] for place in (0, *places)] for row in narrow])
        for name, row in zip(names, shown, strict=True):
            yield _joined([name[0], *(row[place] for place in places)], widths, _GAP)
            yield from name[1:]


def _listed(table: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield each row of a table as its first cell, and below it a line for each other cell under its heading."""
    (_, *headings), *rows = table
    for name, *cells in rows:
        yield from folded(visible(name), width)
        for heading, text in zip(headings, cells, strict=True):
            pieces = folded(" ".join(visible(f"{heading} {text}").split()), width - len(_MARGIN))
            yield from (_MARGIN + piece for piece in pieces)


def listing(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None, rule: str = "─"
) -> Iterator[Line]:
    """
    Yield a table of texts, which go on below if it would be wider than *width*; the first column is in one piece.

    A cell may have several lines. Where the first column leaves too little room, each row becomes a list.
    """
    cells = [[visible(cell, keep="\n").split("\n") for cell in row] for row in (header, *rows)]
    widths = [max(text_width(line) for row in cells for line in row[place]) for place in range(len(header))]
    while width is not None and _whole_width(widths, _GAP, 0) > width:
        widest = max(widths[1:], default=0)
        if widest <= _LEAST:
            yield from (Line(line, "row") for line in _listed([header, *rows], width))
            return
        widths[widths.index(widest, 1)] -= 1
    for number, row in enumerate(cells):
        wrapped = [
            [piece for line in cell for piece in folded(line, room)] for cell, room in zip(row, widths, strict=True)
        ]
        for pieces in zip_longest(*wrapped, fillvalue=""):
            yield Line(_joined(pieces, widths, _GAP, numbers=False), "row" if number else "head")
        if not number:
            yield Line(_GAP.join(rule * room for room in widths), "row")


def ruled(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None, rule: str = "─"
) -> Iterator[Line]:
    """Yield a table with a title and a rule under its header, in several parts if it is wider than *width*."""
    yield from (Line(piece, "head") for piece in folded(visible(title), width))
    names = [folded(visible(row[0]), None if width is None else width // 2) for row in (header, *rows)]
    table = [
        [max(name, key=text_width), *map(visible, row[1:])] for name, row in zip(names, (header, *rows), strict=True)
    ]
    if (
        width is not None
        and max((_whole_width([_widths(table)[0], one]) for one in _widths(table)[1:]), default=0) > width
    ):
        yield from (Line(line, "row") for line in ("", *_listed([header, *rows], width), ""))
        return
    for places in _parts(table, width):
        widths = _widths([[row[place] for place in (0, *places)] for row in table])
        yield Line("")
        for number, (name, row) in enumerate(zip(names, table, strict=True)):
            yield Line(
                _MARGIN + _joined([name[0], *(row[place] for place in places)], widths, _WIDE_GAP),
                "row" if number else "head",
            )
            for more in name[1:]:
                yield Line(_MARGIN + more, "row")
            if not number:
                yield Line(f" {rule * (sum(widths) + len(_WIDE_GAP) * (len(widths) - 1) + 2)}")
    yield Line("")


_LABEL = re.compile(r"\s*(?:\S+ {2,})?")
"""What a folded line goes on below: its indentation, and a word in front of a wide gap."""


def folded(text: str, width: int | None) -> list[str]:
    """Return a text as lines of at most some width, broken between words if possible, below where it begins."""
    if width is None or text_width(text) <= width:
        return [text]
    from rich.cells import chop_cells

    label = _LABEL.match(text)
    start = label[0] if label is not None and text_width(label[0]) <= width // 2 else ""
    margin, room = " " * text_width(start), max(width - text_width(start), 2)
    pieces = [""]
    for word in text[len(start) :].split():
        if pieces[-1] and text_width(pieces[-1]) + 1 + text_width(word) <= room:
            pieces[-1] += f" {word}"
        else:
            pieces += chop_cells(word, room)
    return [(margin if number else start) + piece for number, piece in enumerate(pieces[1:])] or [text.strip()]


def without_least(
    names: Sequence[str], columns: Mapping[str, Sequence[str]], least: Sequence[Sequence[str]], width: int | None
) -> list[str]:
    """Return which columns fit beside the first one with *names*, leaving out groups that say *least* first."""
    kept = list(columns)
    for group in least:
        first = max(map(text_width, names), default=0)
        others = [max(map(text_width, (each, *columns[each]))) for each in kept]
        if width is None or _whole_width([min(first, width // 2), *others]) <= width:
            break
        kept = [heading for heading in kept if heading not in group]
    return kept


def left_out_line(headings: Sequence[str]) -> str:
    """Return what a narrow table leaves out and where it is; empty if it has everything."""
    return f"not shown (narrow terminal): {', '.join(headings)}; --all-columns shows them" if headings else ""


def side_by_side(lines: Sequence[str], width: int) -> list[str]:
    """Return a table, header first, in two halves beside each other, if they fit; else as it is."""
    (header, *rows), widest = lines, max(map(text_width, lines))
    if 2 * widest + len(_WIDE_GAP) > width:
        return list(lines)
    half = (len(rows) + 1) // 2
    pairs = zip_longest([header, *rows[:half]], [header, *rows[half:]], fillvalue="")
    return [f"{left}{' ' * (widest - text_width(left))}{_WIDE_GAP}{right}".rstrip() for left, right in pairs]


def _parts(
    table: Sequence[Sequence[str]], width: int | None, *, gap: str = _WIDE_GAP, margins: int = 2 * len(_MARGIN)
) -> Iterator[list[int]]:
    """Yield the columns behind the first that are side by side in no more than *width*; one at least."""
    widths = _widths(table)
    part: list[int] = []
    for place in range(1, len(widths)):
        taken = [widths[each] for each in (0, *part, place)]
        if part and width is not None and _whole_width(taken, gap, margins) > width:
            yield part
            part = []
        part.append(place)
    yield part


def _widths(table: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(text_width, cells)) for cells in zip(*table, strict=True)]


def _whole_width(widths: Sequence[int], gap: str = _WIDE_GAP, margins: int = 2 * len(_MARGIN)) -> int:
    return sum(widths) + len(gap) * (len(widths) - 1) + margins


def _joined(row: Sequence[str], widths: Sequence[int], gap: str, *, numbers: bool = True) -> str:
    """Return a row as a line, all but the first cell to the right if they are *numbers*; wide letters take two."""
    room = [" " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=True)]
    cells = [room[place] + cell if place and numbers else cell + room[place] for place, cell in enumerate(row)]
    return gap.join(cells).rstrip()


def cell(text: object) -> str:
    """Return a text that is safe in a Markdown table: no line breaks, no markup, no HTML, no control characters."""
    import html  # a table of 2,000 entities, which tables for terminals go without

    flat = visible(" ".join(str(text).split()))
    return unlinked(re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html.escape(flat, quote=False)))


_LINKS = re.compile(r"(?<!\w)@(?=\w)|(?<=\w)@(?=[A-Za-z][\w\\-]*\.)|:(?=//)|(?<=www)(?=\.)", re.IGNORECASE)


def unlinked(text: str) -> str:
    """Return a text of Markdown or HTML in which GitHub mentions no user and makes no link of an address."""
    return _LINKS.sub(r"\g<0>&#8203;", text)  # a blank without width


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], rule: str = "---:") -> list[str]:
    """Return the lines of a table and an empty one; *rule* says on which side all columns but the first are."""
    return [f"| {' | '.join(row)} |" for row in (header, ["---", *[rule] * (len(header) - 1)], *rows)] + [""]


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for notebooks, without script or style."""
    body = "".join(_html_row("td", row) for row in rows)
    head = f"<caption>{_html_text(title)}</caption><thead>{_html_row('th', header)}</thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>"


def preformatted(text: str) -> str:
    """Return a text of several lines for notebooks."""
    import html

    return f"<pre>{html.escape(text)}</pre>"


def _html_row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_html_text(cell)}</{tag}>' for cell in cells)}</tr>"


def _html_text(text: str) -> str:
    import html  # as in `cell`

    return html.escape(visible(text))
