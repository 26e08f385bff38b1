"""Make the application that gunicorn serves: `gunicorn -c python:service.gunicorn_conf service.wsgi:app`."""

from service.app import create_app
from service.config import load_config
from service.logs import configure_logs
from service.monitoring import configure_traces

_config = load_config()
configure_logs(_config)
configure_traces(_config.otlp_endpoint, "api")
app = create_app(_config)
