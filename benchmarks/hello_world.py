"""The least that Flask can do: what reads are measured against."""

from flask import Flask

app = Flask("hello_world")
app.add_url_rule("/", view_func=lambda: "hello", endpoint="hello")
