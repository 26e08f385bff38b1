"""Parts that several formats share; a module here is not a format."""
