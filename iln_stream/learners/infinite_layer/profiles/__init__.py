"""Which experts and rules a learner is composed of."""
