"""Trees of single sentences: written by workers while they score, shown without reading a text again."""
