"""Who may do what: tokens, benchmarks, idempotency keys."""
