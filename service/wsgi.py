"""Make the application that gunicorn serves: `gunicorn -c python:service.gunicorn_conf service.wsgi:app`."""

from service.api.app import create_app
from service.config import load_config
from service.logs import configure_logs

configure_logs()
app = create_app(load_config())
