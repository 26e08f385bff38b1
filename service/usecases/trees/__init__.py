"""Trees of single sentences, as documents, and how they are chosen."""
