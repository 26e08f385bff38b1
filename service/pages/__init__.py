"""The service's own pages: Jinja templates over the use-cases that the API calls, behind the same gate."""
