"""Word alignment scores (Och & Ney 2003; Mihalcea & Pedersen 2003)."""
