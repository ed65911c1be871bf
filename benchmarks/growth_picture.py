"""Draws time and memory against the length as an SVG: two panels, both axes logarithmic. Standard library only."""

import math

WIDTH, HEIGHT = 420, 300
LEFT, TOP, RIGHT, BOTTOM = 62, 34, 12, 40
LINES = {  # library and mask: colour, dashes
    ("dimwise", "full"): ("#0072b2", ""),
    ("dimwise", "causal"): ("#0072b2", "5 4"),
    ("openblas", "full"): ("#d55e00", ""),
    ("openblas", "causal"): ("#d55e00", "5 4"),
}


def ticks(low, high):
    return [10**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def panel(x0, title, unit, growth, what):
    lengths = sorted({g["n"] for g in growth})
    marks = ticks(min(g[what] for g in growth), max(g[what] for g in growth))
    inside, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(n):
        return x0 + LEFT + inside * math.log(n / lengths[0]) / math.log(lengths[-1] / lengths[0])

    def y(value):
        return TOP + tall * (1 - math.log(value / marks[0]) / math.log(marks[-1] / marks[0]))

    parts = [f'<text x="{x0 + LEFT}" y="18" font-weight="bold">{title}</text>']
    for mark in marks:
        parts.append(f'<line x1="{x0 + LEFT}" x2="{x0 + WIDTH - RIGHT}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{x0 + LEFT - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark:g} {unit}</text>')
    for n in lengths:
        parts.append(f'<text x="{x(n):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{n}</text>')
    for (library, which), (colour, dashes) in LINES.items():
        points = sorted((g["n"], g[what]) for g in growth if (g["library"], g["which"]) == (library, which))
        if points:
            line = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
            parts += [f'<circle cx="{x(n):.1f}" cy="{y(value):.1f}" r="2.5" fill="{colour}"/>' for n, value in points]
    return parts


def svg(growth):
    shown = [key for key in LINES if any((g["library"], g["which"]) == key for g in growth)]
    growth = [{**g, "memory": max(g["memory"], 1)} for g in growth if (g["library"], g["which"]) in LINES]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH + 20} {HEIGHT + 26}" font-family="sans-serif" font-size="11">',
             "<title>Attention of two heads of 64 features: time and peak memory against the number of tokens</title>",
             f'<rect width="{2 * WIDTH + 20}" height="{HEIGHT + 26}" fill="white"/>']
    parts += panel(0, "time of one attention", "ms", growth, "ms")
    parts += panel(WIDTH, "peak memory of the process", "MB", growth, "memory")
    for place, (library, which) in enumerate(shown):
        colour, dashes = LINES[library, which]
        left = 70 + 180 * place
        parts.append(f'<line x1="{left}" x2="{left + 30}" y1="{HEIGHT + 10}" y2="{HEIGHT + 10}" stroke="{colour}" stroke-width="2" '
                     f'stroke-dasharray="{dashes}"/>')
        parts.append(f'<text x="{left + 36}" y="{HEIGHT + 14}">{library}, {which}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
