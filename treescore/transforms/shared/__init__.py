"""Parts that several transforms share; a module here is not a transform."""
