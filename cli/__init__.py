"""The tidewise command; starts and supervises processes."""
