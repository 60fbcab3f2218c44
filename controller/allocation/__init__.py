"""Allocation policies: how many devices of each type host which variant."""
