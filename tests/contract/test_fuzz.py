"""schemathesis over the WSGI app: what the document allows is answered as documented, what it forbids is refused."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.generation import GenerationMode

from tests.contract.checking import by_id, resolved
from tests.contract.stage import ADMIN, Stage

CONFIG = SchemathesisConfig.from_dict(
    {
        # What fits the schema may still name a metric that does not exist (422) or a job that is not there (404),
        # or hold, deep in some parameters, a number past 64 bits (400).
        "checks": {
            "positive_data_acceptance": {"expected-statuses": ["2xx", "304", "400", "404", "422"]},
        },
    }
)
EXAMPLES = {"submit_job": 50, "create_token": 20, "create_benchmark": 40, "submit": 40}


@pytest.fixture(scope="module")
def api(stage: Stage) -> Any:
    return schemathesis.openapi.from_wsgi("/openapi.json", stage.app, config=CONFIG)


def can_be_wrong(operation: dict[str, Any]) -> bool:
    """Whether there is a request that the document forbids: any string is a path member, a header or a validator."""
    parameters = [parameter for parameter in operation["parameters"] if parameter["in"] == "query"]
    return "requestBody" in operation or any(
        parameter.get("required") or resolved(parameter["schema"]) != {"type": "string"} for parameter in parameters
    )


CASES = [
    (name, mode)
    for name, operation in by_id().items()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or can_be_wrong(operation)
]


@pytest.mark.parametrize(("operation_id", "mode"), CASES)
def test_no_answer_leaves_the_contract(operation_id: str, mode: GenerationMode, api: Any) -> None:
    operation = api.find_operation_by_id(operation_id)

    @settings(
        max_examples=EXAMPLES.get(operation_id, 8),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case: Any) -> None:
        case.call_and_validate(headers={"Authorization": f"Bearer {ADMIN}"})

    run()
