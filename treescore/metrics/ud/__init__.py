"""The CoNLL 2018 shared task's scores (Zeman et al. 2018)."""
