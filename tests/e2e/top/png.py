# SPDX-License-Identifier: Apache-2.0
"""Makes a screenshot small: at most 256 colours, which is enough for a page without photographs."""
import collections
import struct
import zlib


def pixels(data):
    """The rows of a PNG with 8 bits a channel, as lists of (r, g, b)."""
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6), (depth, colour)
            size = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, before, rows = zlib.decompress(packed), bytes(width * size), []
    for y in range(height):
        start = y * (width * size + 1)
        row = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + width * size]), before, size)
        rows.append([tuple(row[x:x + 3]) for x in range(0, len(row), size)])
        before = row
    return rows


def unfilter(kind, row, above, size):
    for i in range(len(row)) if kind else ():
        left, corner = (row[i - size], above[i - size]) if i >= size else (0, 0)
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[i]
        elif kind == 3:
            guess = (left + above[i]) // 2
        else:
            guess = min((left, above[i], corner), key=lambda one: abs(left + above[i] - corner - one))
        row[i] = (row[i] + guess) & 255
    return row


def small(data):
    rows = pixels(data)
    # Close shades, as the edges of letters have them, are one colour.
    shades = collections.Counter(tuple(part & 0xf8 for part in one) for row in rows for one in row)
    exact = collections.defaultdict(collections.Counter)
    for row in rows:
        for one in row:
            exact[tuple(part & 0xf8 for part in one)][one] += 1
    palette = [exact[shade].most_common(1)[0][0] for shade, _ in shades.most_common(64)]
    numbers = {one: min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], one)))
               for counter in exact.values() for one in counter}
    packed = zlib.compress(b"".join(b"\0" + bytes(numbers[one] for one in row) for row in rows), 9)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0))
            + chunk(b"PLTE", b"".join(map(bytes, palette))) + chunk(b"IDAT", packed) + chunk(b"IEND", b""))
