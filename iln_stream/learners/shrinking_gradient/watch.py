"""Conditions of a run worth watching: counted on each event, with a warning for the first."""

import math

from iln_stream.learners.estimators import Estimate, Iterate
from iln_stream.state import StateDict, StateSchema
from iln_stream.theory import SATURATED_NOISE, theorem_1_covers

_SCHEMA = StateSchema("iln_stream.Watch", 1)

_SETTLED_FROM = 10
"""Number of targets after which their root mean square is taken as settled."""


class Watch:
    """Counts events that Theorem 1 does not cover, and those on which noise drowns the targets.

    Parameters
    ----------
    norm_bound, variance, max_draws
        As in `ShrinkingGradient`.
    horizon
        T if the step is that of Theorem 1, or None.

    """

    def __init__(
        self, norm_bound: float, variance: float, max_draws: int, horizon: int | None = None
    ) -> None:
        self._norm_bound = norm_bound
        self._saturated = SATURATED_NOISE * norm_bound
        self._variance = variance
        self._max_draws = max_draws
        self._horizon = horizon
        self.n_outside = 0
        self.n_capped = 0
        self.n_diverging = 0
        self.noise = 0.0  # bound on the standard deviation of the last E_t
        self._n = 0
        self._mean_square = 0.0  # of the targets

    def event(self, t: int, y_t: float, E_t: Estimate, f_t: Iterate) -> tuple[str, ...]:
        """Check event t = 1, 2, .. before f_t is updated; return the warnings to give.

        Each is given once in a run.
        """
        warned = self._diverging(y_t, f_t.noise(E_t.draws))
        wanted = f_t.draws_wanted
        if wanted is not None:
            warned += self._capped(f_t, wanted)
        if abs(y_t) > 1:
            warned += self._outside(y_t)
        if self._horizon is not None:
            warned += self._beyond_theorem_1(t, self._horizon)
        return warned

    def state(self) -> StateDict:
        """Return the counts."""
        return _SCHEMA.write(
            counts=[self.n_outside, self.n_capped, self.n_diverging, self._n],
            noise=self.noise,
            mean_square=self._mean_square,
        )

    def restore(self, state: StateDict) -> None:
        """Take the counts of a state."""
        counts, self.noise, self._mean_square = _SCHEMA.read(
            state, "counts", "noise", "mean_square"
        )
        self.n_outside, self.n_capped, self.n_diverging, self._n = counts

    def _beyond_theorem_1(self, t: int, horizon: int) -> tuple[str, ...]:
        B = self._norm_bound
        if t == 1 and not theorem_1_covers(B, horizon):
            return (
                f"horizon = {horizon} with norm_bound = {B:g} is not covered by Theorem 1, which "
                f"needs norm_bound >= 1 and horizon > 64 norm_bound^2 = {64 * B * B:g}; raise "
                "horizon, or change norm_bound",
            )
        if t == horizon + 1:
            return (
                f"event {t} is beyond horizon = {horizon}, for which Theorem 1's step was chosen; "
                "raise horizon, or leave it unset for a step that decays",
            )
        return ()

    def _outside(self, y_t: float) -> tuple[str, ...]:
        self.n_outside += 1
        if self.n_outside > 1:
            return ()
        return (
            f"y = {y_t:.6g} lies outside [-1, 1], where Theorem 1 does not hold; "
            "wrap the model in ScaledTarget",
        )

    def _capped(self, f_t: Iterate, wanted: float) -> tuple[str, ...]:
        self.n_capped += 1
        if self.n_capped > 1:
            return ()
        return (
            f"max_draws = {self._max_draws} binds: ||alpha||_1 = {f_t.alpha_l1:.3g} requires "
            f"{math.ceil(wanted)} draws to keep the variance of E below {self._variance:g}; "
            "raise max_draws, or lower norm_bound or step",
        )

    def _diverging(self, y_t: float, noise: float) -> tuple[str, ...]:
        self.noise = noise
        if noise == 0.0:
            return ()
        self._n += 1
        self._mean_square += (y_t * y_t - self._mean_square) / self._n
        # `theory.diverging` without the checks of its arguments, as this runs on every event.
        drowned = noise * noise > self._mean_square > 0.0 or noise > self._saturated
        if not drowned or self._n < _SETTLED_FROM:
            return ()
        self.n_diverging += 1
        if self.n_diverging > 1:
            return ()
        return (
            f"the run is diverging: the noise of E, ||alpha||_1 sqrt(q / m) = {noise:.3g}, is "
            f"at least as large as the signal (B = {self._norm_bound:g}, the targets' "
            f"root mean square is {math.sqrt(self._mean_square):.3g}); take more draws, or "
            "lower norm_bound or step",
        )
