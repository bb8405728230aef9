"""Planning: requests become a plan, with every name, parameter, matcher and cutoff resolved before data is read."""
