"""How an event passes through a learner: inputs, target, memory, experts, intervals, drift."""
