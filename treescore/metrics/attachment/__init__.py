"""Attachment scores (Buchholz & Marsi 2006; Nilsson & Nivre 2008)."""
