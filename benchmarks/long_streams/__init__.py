"""Learning curves on long streams: does a learner go on learning as long as the stream does?"""
