"""The truth: tables, queries, migrations."""
