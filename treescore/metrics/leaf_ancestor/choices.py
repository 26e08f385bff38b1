"""Parameters of `leaf_ancestor`."""

from __future__ import annotations

from collections.abc import Mapping

from treescore.core.absence import errors_param
from treescore.core.params import BOOLEAN, Json, Param
from treescore.errors import InputError, Problem
from treescore.metrics.leaf_ancestor.kernel import CostFunction

EXACT, FIRST_CHARACTER = "exact", "first-character"
DISCODOP = "discodop"
PAIR = {
    "type": "array",
    "prefixItems": [{"type": "string"}, {"type": "string"}, {"type": "number", "minimum": 0}],
    "minItems": 3,
    "maxItems": 3,
}
COST = {
    "anyOf": [
        {"enum": [EXACT, FIRST_CHARACTER]},
        {
            "type": "object",
            "properties": {
                "pairs": {"type": "array", "items": PAIR},
                "default": {"anyOf": [{"enum": [FIRST_CHARACTER]}, {"type": "number", "minimum": 0}]},
            },
            "required": ["pairs"],
            "additionalProperties": False,
        },
    ]
}
REGULARITY = {
    "type": "object",
    "properties": {
        "min_count": {"type": "integer", "minimum": 1},
        "confidence": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
    },
    "additionalProperties": False,
}
REGULAR = {"min_count": 5, "confidence": 0.95, "limit": 20}

PARAMS: Mapping[str, Param] = {
    "cost": Param(
        COST,
        "exact",
        "What replacing a symbol costs (insertion and deletion cost 1): exact (2), first-character (0.5 where both "
        'labels begin with the same character, else 2), or {"pairs": [["NP", "N1", 0.5]], "default": 2}, where default '
        "may be first-character.",
    ),
    "preset": Param(
        {"enum": [DISCODOP, None]},
        None,
        "discodop: as disco-dop with its file proper.prm. Punctuation is deleted, constituents such as ROOT are left "
        "out, and replacing a symbol costs 1, unless `cost` is not exact.",
    ),
    "boundaries": Param(BOOLEAN, True, "Mark in a lineage where constituents begin and end (constituent trees)."),
    "errors": errors_param("Sentences with other words than gold, or without a parse"),
    "diagnosis": Param(
        REGULARITY,
        REGULAR,
        "Which configurations are reported as regularly parsed badly: of min_count words or more, ordered by the "
        "upper bound of their mean score at this confidence, at most limit of each kind.",
    ),
}


def cost_function(cost: Json, preset: Json) -> CostFunction:
    """Return the cost function of these parameters. Raises InputError: `bad-parameter`."""
    value: Json = {"pairs": [], "default": 1.0} if preset == DISCODOP and cost == EXACT else cost
    if value == EXACT:
        return CostFunction()
    if value == FIRST_CHARACTER:
        return CostFunction(first_character=0.5)
    pairs: dict[tuple[str, str], float] = {}
    problems = []
    for index, (first, second, given) in enumerate(value["pairs"]):
        pair = (min(first, second), max(first, second))
        if first == second and given:
            detail = f"The pair {first!r}, {second!r} is one label, and replacing a label by itself costs nothing."
        elif pairs.setdefault(pair, given) != given:
            detail = f"The pair {first!r}, {second!r} has two different costs. Costs hold in both directions."
        else:
            continue
        problems.append(Problem("bad-parameter", detail, pointer=f"/cost/pairs/{index}"))
    if problems:
        raise InputError(problems)
    default = value.get("default", 2.0)
    if default == FIRST_CHARACTER:
        return CostFunction(first_character=0.5, pairs=pairs)
    return CostFunction(default=default, pairs=pairs)
