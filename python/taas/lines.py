"""Lines of what arrives in pieces.

    for line in lines_of(response.stream(), LINE_BYTES_MAX): …
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def lines_of(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Without their ends; of a longer line the first `limit` bytes, so that no peer fills the
    memory. What follows the last line's end is a line, too."""
    held = bytearray()
    for piece in pieces:
        begin = 0
        while (end := piece.find(b"\n", begin)) >= 0:
            held += piece[begin:min(end, begin + limit - len(held))]
            yield bytes(held)
            held.clear()
            begin = end + 1
        held += piece[begin:begin + limit - len(held)]
    if held:
        yield bytes(held)
