"""A kernel whose values are as far off as it says: what bounds on rounding must withstand."""

from dataclasses import dataclass

from gramless.kernels import Linear, Rounding


@dataclass(frozen=True)
class Rounded(Linear):
    """x.y, as inexact as it says: products of rows with themselves lean one way, those with others the other way.

    `absolute` is for rows of norm one, and grows with the square of the larger.
    """

    absolute: float = 0.0
    relative: float = 0.0
    lean: int = 1

    def evaluate(self, x, y):
        exact = super().evaluate(x, y)
        way = -self.lean if x is y else self.lean
        return exact + way * (self.absolute * max(x.largest, y.largest) + self.relative * abs(exact))

    def diagonal(self, x):
        exact = super().diagonal(x)
        return exact - self.lean * (self.absolute + self.relative * exact)

    def rounding(self, radius, d, unit):
        return Rounding(self.absolute * radius**2, self.relative)
