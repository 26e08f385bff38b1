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
BY_SERVICE = {"api": "api-1", "worker": "worker", "bulk-worker": "bulk-worker", "views": "views", "sweeper": "sweeper"}
OURS = (*BY_SERVICE, "migrate")
OF_OPERATOR = "monitoring.coreos.com"
"""What the Prometheus operator adds has no schema in Kubernetes."""
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def everything() -> list[dict[str, Any]]:
    return [document for name in KUSTOMIZATION["resources"] for document in documents(name)]


def pods() -> dict[str, dict[str, Any]]:
    """The pod of each workload, by name."""
    found = {}
    for each in everything():
        spec = each.get("spec", {})
        template = spec.get("jobTemplate", {}).get("spec", spec).get("template")
        if template:
            found[each["metadata"]["name"]] = template["spec"]
    return found


def containers() -> list[dict[str, Any]]:
    return [container for name in OURS for container in pods()[name]["containers"]]


def test_every_manifest_is_applied() -> None:
    assert {path.name for path in FOLDER.glob("*.yaml")} == {"kustomization.yaml", *KUSTOMIZATION["resources"]}


@pytest.mark.parametrize("name", KUSTOMIZATION["resources"])
def test_a_manifest_follows_the_schema_of_its_kind(name: str) -> None:
    for document in documents(name):
        if document["apiVersion"].startswith(OF_OPERATOR):
            continue
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
    assert here["migrate"]["containers"][0]["args"] == services["migrate"]["command"]
    assert here["redis"]["containers"][0]["command"] == services["redis"]["command"]


def test_the_servers_are_those_of_the_compose_file() -> None:
    services = compose_services()
    for name in ("redis", "postgres"):
        assert pods()[name]["containers"][0]["image"] == services[name]["image"]


def test_graces_are_those_of_the_compose_file() -> None:
    services = compose_services()
    seconds = {"30s": 30, "2m": 120, "10s": 10, "1m": 60}
    for name in (*BY_SERVICE, "postgres"):
        assert (
            pods()[name]["terminationGracePeriodSeconds"]
            == seconds[services[BY_SERVICE.get(name, name)]["stop_grace_period"]]
        ), name


def test_the_service_knows_every_variable() -> None:
    known = {PREFIX + field.name.upper() for field in fields(Config)}
    [settings] = documents("settings.yaml")
    given = {variable["name"] for container in containers() for variable in container.get("env", ())}
    assert given | set(settings["data"]) <= known


def test_pods_are_those_that_the_namespace_admits() -> None:
    """What the level `restricted` asks for, and a root that is read-only."""
    [namespace] = documents("namespace.yaml")
    assert namespace["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "restricted"}
    for pod in pods().values():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
            }  # fmt: skip
            assert container["resources"]["limits"]["memory"]


def test_what_our_processes_write_goes_to_folders_of_their_own() -> None:
    for container in containers():
        assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/var/lib/treescore", "/tmp"}  # noqa: S108


def test_an_autoscaler_alone_says_how_many() -> None:
    scaled = {
        each["spec"]["scaleTargetRef"]["name"] for each in everything() if "scaleTargetRef" in each.get("spec", {})
    }
    fixed = {each["metadata"]["name"] for each in everything() if "replicas" in each.get("spec", {})}
    assert scaled == {"api", "worker"}
    assert fixed == {"bulk-worker", "views", "sweeper", "redis", "postgres"}


def test_images_have_tags() -> None:
    [image] = KUSTOMIZATION["images"]
    assert image["newTag"] != "latest"
    for pod in pods().values():
        assert all(each["image"] == image["name"] or ":" in each["image"] for each in pod["containers"])


def test_only_our_pods_reach_the_store_and_the_queue() -> None:
    policies = {each["metadata"]["name"]: each for each in everything() if each["kind"] == "NetworkPolicy"}
    assert set(policies) == {"redis", "postgres"}
    for policy in policies.values():
        [rule] = policy["spec"]["ingress"][0]["from"]
        asking = {f"treescore-{name}" for name in ((*OURS, "backup") if policy is policies["postgres"] else BY_SERVICE)}
        assert set(rule["podSelector"]["matchExpressions"][0]["values"]) == asking


def test_probes_ask_each_process_alone() -> None:
    [api] = pods()["api"]["containers"]
    asked = {probe: api[f"{probe}Probe"]["httpGet"] for probe in ("startup", "liveness", "readiness")}
    assert {each["port"] for each in asked.values()} == {"probes"}
    assert {probe: each["path"] for probe, each in asked.items()} == {
        "startup": "/livez", "liveness": "/livez", "readiness": "/readyz",
    }  # fmt: skip
    services = compose_services()
    for name in ("worker", "bulk-worker", "views", "sweeper"):
        command = pods()[name]["containers"][0]["livenessProbe"]["exec"]["command"]
        assert command[-1] == services[name]["healthcheck"]["test"][-1]
