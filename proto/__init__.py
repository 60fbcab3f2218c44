"""The wire: message definitions, their committed stubs, and their conversion to nouns."""
