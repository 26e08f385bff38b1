"""Values every room shares: arrays, treebanks, vocabularies, parameters, scores and the registry of components."""
