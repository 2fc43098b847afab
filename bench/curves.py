"""Curves as an SVG drawing for the documents: both axes logarithmic, each curve named at its end."""
import math

from look import opening

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 96, 150, 44, 46
LABEL_HEIGHT = 17


def powers(values):
    """The powers of ten around the values, as exponents."""
    return range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)


def number(exponent):
    return f'{10**exponent:,}' if exponent < 6 else f'{10 ** (exponent - 6):,} million'


def spread(places):
    """Moves labels down until none covers another; returns their places in the given order."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    out = list(places)
    for before, after in zip(order, order[1:]):
        out[after] = max(out[after], out[before] + LABEL_HEIGHT)
    return out


def drawing(title, x_name, points):
    """`points`: {x: {name of a curve: y}}; the same names for each x; x and y above 0."""
    names = list(next(iter(points.values())))
    xs = powers(points)
    ys = powers([y for values in points.values() for y in values.values()])

    def at_x(x):
        return LEFT + (math.log10(x) - xs[0]) / (xs[-1] - xs[0]) * (WIDTH - LEFT - RIGHT)

    def at_y(y):
        return HEIGHT - BOTTOM - (math.log10(y) - ys[0]) / (ys[-1] - ys[0]) * (HEIGHT - TOP - BOTTOM)

    out = opening(title, WIDTH, HEIGHT)
    for exponent in ys:
        y = at_y(10**exponent)
        out.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number(exponent)}</text>')
    for exponent in xs:
        x = at_x(10**exponent)
        out.append(
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">'
            f'{number(exponent)}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{x_name}</text>')
    ends = spread([at_y(points[max(points)][name]) for name in names])
    for series, (name, label) in enumerate(zip(names, ends)):
        line = 'L'.join(f'{at_x(x):.1f} {at_y(points[x][name]):.1f}' for x in sorted(points))
        out.append(f'<path class="s{series}" d="M{line}" fill="none" stroke-width="2"/>')
        x = WIDTH - RIGHT + 10
        out.append(f'<text class="f{series}" x="{x}" y="{label + 4:.1f}">{name}</text>')
    return '\n'.join([*out, '</svg>', ''])
