"""Answer with the smallest Flask app on the service's own server: the reference for the speed of reads."""

from flask import Flask

from service.config import load_config
from service.server.connection import EXTENSION, ServerState

app = Flask("hello_world")
app.extensions[EXTENSION] = ServerState(load_config())
app.add_url_rule("/", view_func=lambda: "hello", endpoint="hello")
