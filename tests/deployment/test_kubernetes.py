"""The manifests for Kubernetes: valid, and the same processes as the compose file's."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import kubernetes_validate
import pytest
import yaml

from service.config import PREFIX, Config
from tests.deployment.container_files import ROOT, compose_services

FOLDER = ROOT / "kubernetes"
BY_SERVICE = {"api": "api", "worker": "worker", "bulk-worker": "bulk-worker", "sweeper": "sweeper"}
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def everything() -> list[dict[str, Any]]:
    return [document for name in KUSTOMIZATION["resources"] for document in documents(name)]


def pods() -> dict[str, dict[str, Any]]:
    """The pod of each workload, by name."""
    return {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]
        for each in everything()
        if each["kind"] in ("Deployment", "StatefulSet")
    }


def containers() -> list[dict[str, Any]]:
    found = [pods()[name] for name in BY_SERVICE]
    return [container for pod in found for container in [*pod.get("initContainers", ()), *pod["containers"]]]


def test_every_manifest_is_applied() -> None:
    assert {path.name for path in FOLDER.glob("*.yaml")} == {"kustomization.yaml", *KUSTOMIZATION["resources"]}


@pytest.mark.parametrize("name", KUSTOMIZATION["resources"])
def test_a_manifest_follows_the_schema_of_its_kind(name: str) -> None:
    for document in documents(name):
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def test_an_unknown_member_is_found() -> None:
    [document] = documents("worker.yaml")
    document["spec"]["replica"] = 4
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def test_the_commands_are_those_of_the_compose_file() -> None:
    services = compose_services()
    here = pods()
    for name, service in BY_SERVICE.items():
        [container] = here[name]["containers"]
        assert container["args"] == services[service]["command"]
    assert here["sweeper"]["initContainers"][0]["args"] == services["migrate"]["command"]
    assert here["redis"]["containers"][0]["args"] == services["redis"]["command"]


def test_the_servers_are_those_of_the_compose_file() -> None:
    services = compose_services()
    for name in ("redis", "postgres"):
        assert pods()[name]["containers"][0]["image"] == services[name]["image"]


def test_graces_are_those_of_the_compose_file() -> None:
    services = compose_services()
    seconds = {"30s": 30, "2m": 120, "10s": 10, "1m": 60}
    for name in (*BY_SERVICE, "postgres"):
        assert pods()[name]["terminationGracePeriodSeconds"] == seconds[services[name]["stop_grace_period"]], name


def test_the_service_knows_every_variable() -> None:
    known = {PREFIX + field.name.upper() for field in fields(Config)}
    [settings] = documents("settings.yaml")
    given = {variable["name"] for container in containers() for variable in container.get("env", ())}
    assert given | set(settings["data"]) <= known


def test_our_containers_run_without_rights() -> None:
    for pod in pods().values():
        assert pod["securityContext"]["runAsNonRoot"] is True
        for container in [*pod.get("initContainers", ()), *pod["containers"]]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_only_our_pods_reach_the_store_and_the_queue() -> None:
    labels = {
        each["metadata"]["name"]: each["spec"]["template"]["metadata"]["labels"]["app"]
        for each in everything()
        if each["kind"] == "Deployment"
    }
    policies = {each["metadata"]["name"]: each for each in everything() if each["kind"] == "NetworkPolicy"}
    assert set(policies) == {"redis", "postgres"}
    for policy in policies.values():
        [rule] = policy["spec"]["ingress"][0]["from"]
        assert set(rule["podSelector"]["matchExpressions"][0]["values"]) == {labels[name] for name in BY_SERVICE}


def test_probes_ask_addresses_that_every_host_name_may_ask() -> None:
    [api] = pods()["api"]["containers"]
    asked = {api[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "liveness", "readiness")}
    assert asked == {"/livez", "/readyz"}
