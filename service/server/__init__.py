"""The HTTP server under gunicorn: it reads requests whole before a thread takes them, and sends answers without one."""
