"""Notes that every comparison document holds, and that a view shows only where they say something of its pairs."""

from __future__ import annotations

IDENTICAL = "p of identical outputs is 1"
UNDEFINED = "undefined scores (0/0) are excluded and listed"
