# SPDX-License-Identifier: Apache-2.0
"""Curves as SVG, in the style of the plots of `cornea study` (study/plot.cc): legible in print, in gray and on a
dark screen. Every curve has a colour, a marker and a dash pattern of its own."""
import math
from html import escape

COLOURS = (("#0072b2", "#5db3f0"), ("#c44e00", "#ff9850"), ("#00805d", "#3fcfa0"), ("#a8487f", "#ef9fcb"),
           ("#b27700", "#efc24a"))
DASHES = ("none", "7 4", "12 3 3 3", "3 3", "14 4")
WIDTH, HEIGHT, LEFT, RIGHT = 760, 440, 76, 24


def _style():
    light, dark = (" ".join(f"--c{k}: {pair[side]};" for k, pair in enumerate(COLOURS)) for side in (0, 1))
    return f"""<style>
.plot {{ font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --ground: #ffffff; --ink: #1d1d20; --muted: #5c5c63; --line: #e3e3df; {light} }}
@media screen and (prefers-color-scheme: dark) {{ .plot {{
  --ground: #1b1b1e; --ink: #ebebee; --muted: #a4a4ad; --line: #36363c; {dark} }} }}
.plot text {{ fill: var(--muted); }}
.plot .title {{ fill: var(--ink); font-size: 15px; font-weight: 600; }}
.plot .name {{ fill: var(--ink); }}
.plot path {{ fill: none; }}
</style>"""


def _marker(k, x, y):
    """Circle, square, triangle, diamond, cross; the odd ones are open."""
    shape = ("M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z", "M-3.6 -3.6H3.6V3.6H-3.6Z", "M0 -4.8L4.4 3.6H-4.4Z",
             "M0 -5.2L5.2 0L0 5.2L-5.2 0Z", "M-4 -4L4 4M4 -4L-4 4")[k]
    fill = "var(--ground)" if k % 2 else f"var(--c{k})"
    return (f'<path transform="translate({x:.1f} {y:.1f})" d="{shape}" '
            f'style="fill:{fill};stroke:var(--c{k});stroke-width:1.6"/>')


def _curve(k, d):
    return f'<path d="{d}" style="stroke:var(--c{k});stroke-width:2;stroke-dasharray:{DASHES[k]}"/>'


def _text(x, y, anchor, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def curves(path, title, series, x_axis, y_axis, caption, logarithmic_y=True, slope=0):
    """Writes a plot of up to five `series`, {name: [(x, y), ..]}, over a logarithmic x axis. An axis is (label,
    ticks). With a `slope` a dotted line through the last point of every curve shows cost that grows with this
    power of x."""
    (x_label, x_ticks), (y_label, y_ticks) = x_axis, y_axis
    top, bottom = 84, HEIGHT - 92
    points = [point for curve in series.values() for point in curve]
    x_low, x_high = (pick((pick(x for x, _ in points), pick(x_ticks))) for pick in (min, max))
    y_low, y_high = min(y_ticks), max(max(y for _, y in points), max(y_ticks))

    def place(x, y):
        along = math.log(x / x_low) / math.log(x_high / x_low)
        up = math.log(y / y_low) / math.log(y_high / y_low) if logarithmic_y else (y - y_low) / (y_high - y_low)
        return LEFT + along * (WIDTH - LEFT - RIGHT - 20), bottom - up * (bottom - top)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
           f'height="{HEIGHT}" role="img" aria-label="{escape(title)}">', _style(),
           f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" style="fill:var(--ground)"/>',
           _text(20, 26, "start", title, ' class="title"')]
    x = LEFT
    for k, name in enumerate(series):
        out += [_curve(k, f"M{x - 8} 50h32"), _marker(k, x + 8, 50), _text(x + 32, 54, "start", name, ' class="name"')]
        x += 64 + 6.6 * len(name)
    for tick in y_ticks:
        y = place(x_low, tick)[1]
        out += [f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" style="stroke:var(--line)"/>',
                _text(LEFT - 8, y + 4, "end", f"{tick:,g}")]
    for tick in x_ticks:
        x = place(tick, y_low)[0]
        out += [f'<path d="M{x:.1f} {bottom}v4" style="stroke:var(--muted)"/>',
                _text(x, bottom + 18, "middle", f"{tick:,}")]
    out += [f'<path d="M{LEFT} {bottom}H{WIDTH - RIGHT}" style="stroke:var(--muted)"/>',
            _text((LEFT + WIDTH - RIGHT) / 2, bottom + 38, "middle", x_label),
            _text(0, 0, "middle", y_label, f' transform="translate(18 {(top + bottom) / 2}) rotate(-90)"')]
    for k, curve in enumerate(series.values()):
        if slope:
            (x_first, _), (x_last, y_last) = curve[0], curve[-1]
            start = max(x_first, x_last * (y_low / y_last) ** (1 / slope))
            (x1, y1), (x2, y2) = place(start, y_last * (start / x_last) ** slope), place(x_last, y_last)
            out.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" style="stroke:var(--c{k});stroke-dasharray:1 4"/>')
        places = [place(*point) for point in curve]
        out.append(_curve(k, "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)))
        out += [_marker(k, *p) for p in places]
    out += [_text(20, HEIGHT - 28 + 17 * i, "start", line) for i, line in enumerate(caption.split("\n"))]
    path.write_text("\n".join(out) + "\n</svg>\n")
