"""schemathesis over the WSGI app: what the document allows is answered as documented, what it forbids is refused.

It is imported by what runs, as importing it takes seconds and each process of a quick run collects this file too.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from tests.contract.checking import by_id, resolved
from tests.contract.shared_task import SharedTask
from tests.contract.stage import ADMIN, Stage, forget_failures
from tests.fixtures.requests import ONE_WRONG

pytestmark = pytest.mark.slow

CONFIG = {
    # What fits the schema may still name a metric that does not exist (422) or a job that is not there (404),
    # or hold, deep in some parameters, a number past 64 bits (400); or the state of things refuses it.
    "checks": {
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", "304", "400", "403", "404", "409", "412", "422", "428", "429"]
        },
        # what is too long for its field may be too large for a body
        "negative_data_rejection": {
            "expected-statuses": [
                "400",
                "401",
                "403",
                "404",
                "405",
                "406",
                "409",
                "413",
                "415",
                "422",
                "428",
                "429",
                "5xx",
            ]
        },
    }
}
EXAMPLES = {"submit_job": 30, "create_token": 15, "create_benchmark": 25, "submit": 25}


@pytest.fixture(scope="module")
def api(stage: Stage) -> Any:
    import schemathesis  # noqa: PLC0415
    from schemathesis.config import SchemathesisConfig  # noqa: PLC0415

    config = SchemathesisConfig.from_dict(CONFIG)
    return schemathesis.openapi.from_wsgi("/openapi.json", stage.app, config=config)


@pytest.fixture(scope="module")
def real(stage: Stage) -> dict[str, str]:
    """Path members that lead somewhere; what the fuzz sends there may change it, and never ends it."""
    task = SharedTask(stage)
    comparison = task.comparison().rpartition("/")[2]
    submission = task.submit(text=ONE_WRONG).rpartition("/")[2]
    return {"benchmark": task.slug, "submission": submission, "comparison": comparison, "part": "en", "number": "1"}


def can_be_wrong(operation: dict[str, Any]) -> bool:
    """Whether there is a request that the document forbids: any string is a path member, a header or a validator."""
    parameters = [parameter for parameter in operation["parameters"] if parameter["in"] == "query"]
    return "requestBody" in operation or any(
        parameter.get("required") or resolved(parameter["schema"]) != {"type": "string"} for parameter in parameters
    )


CASES = [
    (name, mode)
    for name, operation in by_id().items()
    for mode in ("positive", "negative")
    if mode == "positive" or can_be_wrong(operation)
]


@pytest.mark.parametrize(("operation_id", "mode"), CASES)
def test_no_answer_leaves_the_contract(
    operation_id: str, mode: str, api: Any, real: dict[str, str], stage: Stage
) -> None:
    from schemathesis.generation import GenerationMode  # noqa: PLC0415

    operation = api.find_operation_by_id(operation_id)
    ends = operation_id.startswith(("delete_", "erase_", "revoke_"))
    sent = count()

    @settings(
        max_examples=EXAMPLES.get(operation_id, 8),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=GenerationMode(mode)))
    def run(case: Any) -> None:
        # a parameter without a value is not sent: what is wrong with it does not reach the service
        assume(all(value not in (None, [], {}) for value in case.query.values()))
        if not ends and next(sent) % 4:
            case.path_parameters.update({name: real[name] for name in case.path_parameters if name in real})
        forget_failures(stage.queue)  # each case is sent with invalid tokens too
        # without a network between them the client does not decompress
        case.call_and_validate(headers={"Authorization": f"Bearer {ADMIN}", "Accept-Encoding": "identity"})

    run()
