"""PARSEVAL bracket scores (Black et al. 1991), as EVALB and parseval.py print them."""
