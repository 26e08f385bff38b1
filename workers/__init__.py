"""RQ entry points, worker process and sweeper."""
