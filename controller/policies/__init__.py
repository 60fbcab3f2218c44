"""Allocation policies by name, one file each; the cluster file names one, and the simulator takes them as they are."""

from tidewise.controller.policies.policy import AllocationPolicy
from tidewise.controller.policies.registry import POLICIES, allocate, allocate_fast, allocation_policy
from tidewise.controller.policies.restrict import every_variant, least_accurate, most_accurate

__all__ = [
    "POLICIES",
    "AllocationPolicy",
    "allocate",
    "allocate_fast",
    "allocation_policy",
    "every_variant",
    "least_accurate",
    "most_accurate",
]
