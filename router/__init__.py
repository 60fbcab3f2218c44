"""Routing table, choice, forwarding and the tally of arrivals."""
