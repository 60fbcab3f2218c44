"""Renders core nouns to HTML and PNG."""
