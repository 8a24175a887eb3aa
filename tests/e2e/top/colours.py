# SPDX-License-Identifier: Apache-2.0
"""How far apart colours are for people with and without colour blindness."""
import itertools

# Machado, Oliveira and Fernandes 2009, for those who lack one kind of cones entirely.
EYES = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour):
    """#rrggbb without the curve of sRGB."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour):
    return sum(part * weight for part, weight in zip(linear(colour), (0.2126, 0.7152, 0.0722)))


def lab(parts):
    """CIE L*a*b*, from linear sRGB."""
    rows = (0.4124, 0.3576, 0.1805, 0.95047), (0.2126, 0.7152, 0.0722, 1), (0.0193, 0.1192, 0.9505, 1.08883)
    x, y, z = (sum(a * b for a, b in zip(row, parts)) / row[3] for row in rows)
    x, y, z = (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116 for one in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def nearest(colours):
    """For each kind of eyes, how far apart the nearest two are (the CIE's difference of 1976; 2 is just visible)."""
    found = {}
    for name, eyes in EYES.items():
        seen = [lab([min(max(sum(a * b for a, b in zip(row, linear(one))), 0), 1) for row in eyes]) for one in colours]
        found[name] = min(sum((a - b) ** 2 for a, b in zip(one, other)) ** 0.5
                          for one, other in itertools.combinations(seen, 2))
    return found


def contrast(one, other):
    """As the WCAG define it."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
