"""PARSEVAL over constituents that may have gaps, as disco-dop computes it (van Cranenburgh, Scha & Bod 2016)."""
