"""Answer with the smallest Flask app: the reference for the speed of reads."""

from flask import Flask

app = Flask("hello_world")
app.add_url_rule("/", view_func=lambda: "hello", endpoint="hello")
