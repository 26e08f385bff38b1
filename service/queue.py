"""RQ: put in, take out, wake up."""
