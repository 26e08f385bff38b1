"""Configure gunicorn for the hello world as for the service, without the counts that the service hands on."""

from service.gunicorn_conf import *  # noqa: F403 - its settings


def post_worker_init(_worker: object) -> None:  # type: ignore[no-redef]
    """Begin nothing."""
