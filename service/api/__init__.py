"""One blueprint a resource: parse, call one use-case, dump."""
