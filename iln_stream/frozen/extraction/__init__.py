"""From a learner to the arrays that its frozen predictor needs."""
