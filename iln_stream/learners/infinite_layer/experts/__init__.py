"""The experts, one a file, and their parts.

Parts are `replay_ring` and `replayed_network` of `replayed_networks`, and `weight_distribution` and
`feature_resampler` of `resampled_ridges`.
"""
