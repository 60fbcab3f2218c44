"""C++ parts and the way Python finds them; every one has a Python fallback."""
