"""RQ entry points, the worker process and the sweeper."""
