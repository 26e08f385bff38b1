"""Make the application that gunicorn serves: `gunicorn -c python:service.gunicorn_conf service.wsgi:app`."""

from service.app import create_app
from service.config import load_config
from service.logs import configure_logs

_config = load_config()
configure_logs(_config)
app = create_app(_config)
