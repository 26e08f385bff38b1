"""gunicorn's settings: threads, because requests wait; never the control socket, because nobody asks for it."""

from service.config import load_config

_config = load_config()

bind = [_config.bind]
workers = _config.api_processes
worker_class = "gthread"
threads = _config.threads
control_socket_disable = True
timeout = 120
graceful_timeout = 10
keepalive = 75
accesslog = None
limit_request_line = 8190
