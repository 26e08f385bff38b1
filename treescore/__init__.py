"""Score parsers and treebanks: exact scores, and which differences are real.

    from treescore import score
    result = score("gold.conllu", {"mine": "mine.conllu"}, metric="ud")
    result["mine"].las_f1

Names are loaded at their first use: `import treescore` loads neither arrays nor the compiler nor the network.
"""

import importlib

from treescore.core.version import __version__

TYPE_CHECKING = False  # as in typing, which takes longer to load than this package
if TYPE_CHECKING:
    from treescore.api import compare, list_formats, list_metrics, score, suggest
    from treescore.client import AsyncClient, Client, ClientError, RefusedError, RequestError, UnavailableError
    from treescore.errors import InputError, LimitError, MissingExtra, Problem, ScoringError, TreescoreWarning
    from treescore.evaluation.spec import Suggestion
    from treescore.results import Comparison, Pair, Picture, Result, SystemScores, View

__all__ = [
    "AsyncClient",
    "Client",
    "ClientError",
    "Comparison",
    "InputError",
    "LimitError",
    "MissingExtra",
    "Pair",
    "Picture",
    "Problem",
    "RefusedError",
    "RequestError",
    "Result",
    "ScoringError",
    "Suggestion",
    "SystemScores",
    "TreescoreWarning",
    "UnavailableError",
    "View",
    "__version__",
    "compare",
    "list_formats",
    "list_metrics",
    "score",
    "suggest",
]

_MODULES = {
    "treescore.api": ("compare", "list_formats", "list_metrics", "score", "suggest"),
    "treescore.client": ("AsyncClient", "Client", "ClientError", "RefusedError", "RequestError", "UnavailableError"),
    "treescore.errors": ("InputError", "LimitError", "MissingExtra", "Problem", "ScoringError", "TreescoreWarning"),
    "treescore.evaluation.spec": ("Suggestion",),
    "treescore.results": ("Comparison", "Pair", "Picture", "Result", "SystemScores", "View"),
}

if not TYPE_CHECKING:  # a type checker would take every misspelt name for one of these

    def __getattr__(name: str) -> object:
        """Load a public name from its module and keep it."""
        for module, names in _MODULES.items():
            if name in names:
                value = getattr(importlib.import_module(module), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names too, whether loaded or not."""
    return sorted({*globals(), *__all__})
