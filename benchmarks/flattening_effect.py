"""Count the brackets of a treebank before and after `flatten`, by label, as a Markdown table.

    python benchmarks/flattening_effect.py FILE [--rules penn-flat | --rules-file RULES] [--show N]

FILE is any bracketed treebank. Labels are counted without their extensions; phrases over null elements alone count
as brackets before and are gone afterwards.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from treescore.core.registry import make_transform
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import ConstituentTreebank, Vocabulary
from treescore.evaluation.spec import parse_format
from treescore.formats.bracketed import Bracketed
from treescore.transforms.edits import base_label


def main() -> None:
    """Read, flatten, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rules", default="penn-flat", help="a shipped rule set")
    parser.add_argument("--rules-file", type=Path, help="a file of rules")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the first N changed trees too")
    given = parser.parse_args()
    rules = given.rules_file.read_text(encoding="utf-8") if given.rules_file else given.rules
    reader = parse_format("bracketed").format
    trees = reader.read(given.file.read_bytes(), Vocabulary(), DEFAULT_LIMITS)
    assert isinstance(trees, ConstituentTreebank)  # noqa: S101 - the format bracketed yields nothing else
    flat = make_transform("flatten", {"rules": rules}).apply(trees, trees)
    print_table(labels_of(trees), labels_of(flat))
    if given.show:
        assert isinstance(reader, Bracketed)  # noqa: S101 - as above
        pairs = zip(reader.write(trees).splitlines(), reader.write(flat).splitlines(), strict=True)
        for before, after in [pair for pair in pairs if pair[0] != pair[1]][: given.show]:
            print(f"\n{before}\n{after}")


def labels_of(trees: ConstituentTreebank) -> Counter[str]:
    """Count the brackets of each label."""
    return Counter(base_label(trees.vocabulary.strings[label]) or "(none)" for label in trees.labels.tolist())


def print_table(before: Counter[str], after: Counter[str]) -> None:
    """Print a row for each label, most frequent first, and a last row for all labels."""
    print("| label | before | after | kept |")
    print("|---|---:|---:|---:|")
    for label, count in [*before.most_common(), ("all", before.total())]:
        left = after.total() if label == "all" else after[label]
        print(f"| {label} | {count} | {left} | {100 * left / count:.0f} % |")


if __name__ == "__main__":
    main()
