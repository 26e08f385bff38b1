"""Conformance scores of flat keys (Gaizauskas, Hepple & Huyck 1998)."""
