"""The paper, its theory, its neighbours, and the experiments that check it."""
