"""Edit distance of trees (Zhang & Shasha 1989)."""
