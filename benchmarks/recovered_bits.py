"""Bits of single sentences that a searching attacker recovers, beside the budget of each feedback level.

Run `python benchmarks/recovered_bits.py`: worlds of several seeds, a service in this process with the default quotas.
`own` weighs an output of the attacker's own through the scores of several days; `rival` asks the API about a rival's
output, and knows gold. `organiser` is the same attack with the settings that only organisers may choose.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.attacks.searching_attacker import attack_own, attack_rival, budget, recovered_bits
from tests.attacks.victim import Victim, victim
from tests.fixtures.servers import Valkey

LEVELS = ("none", "status", "rounded", "scores")
SEEDS = range(1, 6)
SENTENCES = {"own": 400, "rival": 120, "organiser": 120}
DAYS = 4
LISTED = {"leaderboard": {"scores": ["attachment.las"]}}

Attack = Callable[[Victim, str, int], tuple[float, float]]


def own(attacked: Victim, level: str, seed: int) -> tuple[float, float]:
    """Return the recovered bits of an own output, and the budget."""
    truth, probabilities, submissions = attack_own(attacked, DAYS, 1000 + seed)  # no seed of gold's
    return recovered_bits(truth, probabilities), budget(level, submissions)


def rival(attacked: Victim, level: str, _seed: int) -> tuple[float, float]:
    """Return the recovered bits of a rival's output, and the budget."""
    probabilities, _ = attack_rival(attacked, attacked.attacker, attacked.sentences + 40)
    return recovered_bits(attacked.rival, probabilities), budget(level, 1, pairs=1)


def organiser(attacked: Victim, level: str, _seed: int) -> tuple[float, float]:
    """Return what the attack on a rival recovers with an organiser's settings, and a participant's budget."""
    probabilities, _ = attack_rival(attacked, attacked.organiser, attacked.sentences + 40)
    return recovered_bits(attacked.rival, probabilities), budget(level, 1, pairs=1)


def main() -> None:
    """Print a row for each attack and level."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; seeds {list(SEEDS)}")
    print(f"{'attack':10} {'level':8} {'sentences':>9} {'bits, median':>12} {'most':>8} {'budget':>8}")
    attacks: dict[str, Attack] = {"own": own, "rival": rival, "organiser": organiser}
    with tempfile.TemporaryDirectory(prefix="ts-") as folder:
        server = Valkey(Path(folder))
        server.start()
        try:
            for name, attack in attacks.items():
                for level in LEVELS if name != "organiser" else ("scores",):
                    results = []
                    for seed in SEEDS:
                        place = Path(folder) / f"{name}-{level}-{seed}"
                        with victim(place, server.url, level, SENTENCES[name], seed, **LISTED) as attacked:
                            results.append(attack(attacked, level, seed))
                    bits = [each for each, _ in results]
                    print(
                        f"{name:10} {level:8} {SENTENCES[name]:9} {median(bits):12.1f} {max(bits):8.1f} "
                        f"{results[0][1]:8.1f}"
                    )
        finally:
            server.kill()


if __name__ == "__main__":
    main()
