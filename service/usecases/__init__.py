"""What the service does: no Flask and no Redis in here."""
