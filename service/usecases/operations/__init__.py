"""Operate a store: back up, restore, check, purge, tokens, upgrades, diagnosis. The commands show what these return."""
