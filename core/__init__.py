"""Nouns, arithmetic that several parts share, and file formats: text in, nouns out."""
