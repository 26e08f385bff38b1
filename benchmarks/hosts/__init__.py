"""Hosts of their own on one machine: network namespaces with addresses, on which the compose file's commands run."""
