"""Precision, recall and F1 of multiword expressions, as in the PARSEME shared tasks."""
