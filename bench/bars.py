"""Bars as an SVG drawing for the documents: a group of bars for each row, each with its figure."""
from xml.sax.saxutils import escape

from look import opening

WIDTH = 720
TOP, BAR, GAP, BOTTOM = 66, 16, 12, 14
LETTER = 7.2  # width, approximately
FIGURE = 76  # room for the figure behind the longest bar


def number(value):
    if value >= 100:
        return f'{value:,.0f}'
    return f'{value:.1f}' if value >= 10 else f'{value:.2f}'


def drawing(title, rows, series, label):
    """`rows`: dictionaries; `series`: names of their figures; `label`: of a row."""
    labels = [label(row) for row in rows]
    left = 24 + LETTER * max(map(len, labels))
    most = max(row[name] for row in rows for name in series) or 1
    group = BAR * len(series) + GAP
    height = TOP + group * len(rows) + BOTTOM
    out = opening(escape(title), WIDTH, height)
    x = 12
    for n, name in enumerate(series):
        out.append(f'<rect class="f{n}" x="{x:.0f}" y="37" width="11" height="11" rx="2"/>')
        out.append(f'<text x="{x + 17:.0f}" y="47">{escape(name)}</text>')
        x += 17 + LETTER * len(name) + 22
    for index, (row, text) in enumerate(zip(rows, labels)):
        top = TOP + group * index
        middle = top + BAR * len(series) / 2 + 4.5
        out.append(f'<text x="{left - 10:.1f}" y="{middle:.1f}" text-anchor="end">'
                   f'{escape(text)}</text>')
        for n, name in enumerate(series):
            y, width = top + BAR * n, row[name] / most * (WIDTH - left - FIGURE)
            out.append(f'<rect class="f{n}" x="{left:.1f}" y="{y}" width="{max(width, 1):.1f}" '
                       f'height="{BAR - 2}" rx="2"/>')
            out.append(f'<text x="{left + width + 6:.1f}" y="{y + 11.5}">{number(row[name])}</text>')
    out.append(f'<path class="grid" d="M{left:.1f} {TOP - 4}V{height - BOTTOM}"/>')
    return '\n'.join([*out, '</svg>', ''])
