"""The documentation on pages: the contract by tags, the guides, the catalogue of problems, and a search over all."""
