"""Registry, demand, allocation, placement, planner and publisher."""
