"""What callers have in their hands, as texts: files, archives, folders, open files, strings, parsed sentences."""
