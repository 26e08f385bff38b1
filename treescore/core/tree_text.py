"""Write a constituent tree in brackets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def tree_text(nodes: Sequence[tuple[str, int, int]], words: Iterable[tuple[str, str | None]], *, square: bool) -> str:
    """Write one tree, or a forest, on one line.

    Args:
        nodes: label, start and end of each node, in pre-order.
        words: form and tag of each word; None for no tag.
        square: whether the brackets are square.
    """
    left, right = ("[", "]") if square else ("(", ")")
    pieces: list[str] = []
    open_ends: list[int] = []
    node = 0
    for position, (form, tag) in enumerate([*words, ("", None)]):
        while node < len(nodes) and nodes[node][1] == position:
            label, _, end = nodes[node]
            # A node with words leaves what ends here; an empty one stays in the lowest that touches its place.
            while open_ends and (open_ends[-1] < position or (open_ends[-1] == position < end)):
                open_ends.pop()
                pieces.append(right)
            pieces.append(f" {left}{label}")
            open_ends.append(end)
            node += 1
        while open_ends and open_ends[-1] <= position:
            open_ends.pop()
            pieces.append(right)
        pieces.append(f" {form}" if tag is None else f" {left}{tag} {form}{right}")
    return "".join(pieces).strip()
