"""Leaf-ancestor scores (Sampson 2000; Sampson & Babarczy 2003)."""
