"""Small HTML tables for notebooks. All text is escaped, because names come from files."""

import html


def table(rows, head=(), caption=""):
    """Returns an HTML table; cells are plain text."""

    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{text(cell)}</{tag}>" for cell in cells) + "</tr>"

    parts = ["<table>"]
    if caption:
        parts.append(f'<caption style="text-align:left">{text(caption)}</caption>')
    if head:
        parts.append(f"<thead>{line(head, 'th')}</thead>")
    parts.append("<tbody>" + "".join(line(row, "td") for row in rows) + "</tbody></table>")
    return "".join(parts)


def text(cell):
    return html.escape("" if cell is None else str(cell), quote=True)


def frame(page):
    """Returns a page in a sandboxed frame, which cannot access the page around it."""
    return (
        f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="allow-scripts" '
        'style="width:100%;height:800px;border:0"></iframe>'
    )


def seconds(value):
    """
    >>> seconds(66.701), seconds(0.0541)
    ('66.7 s', '54.1 ms')
    """
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if value * factor >= 1 or unit == "us":
            return f"{value * factor:.3g} {unit}"
    return ""


def whole(value):
    """
    >>> whole(28077.8)
    '28,078'
    """
    return f"{value:,.0f}"


def percent(value):
    """
    >>> percent(0.4462)
    '44.6 %'
    """
    return f"{100 * value:.1f} %"


def gib(value):
    """
    >>> gib(74665354603)
    '69.5 GiB'
    """
    return f"{value / 2**30:.3g} GiB"
