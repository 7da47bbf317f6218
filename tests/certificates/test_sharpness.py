"""Cases in which a bound is attained, or nearly: the least slip in a formula breaks it, or makes it wide."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.certificates import Outside, angle_bounds, certify, from_fact, from_frobenius, outside_leading
from gramless.certificates.inertia import least_upper_bound, upper_bounds
from gramless.certificates.quadrature import aliasing_bound, root_mean_square_bound, truncation


def arrow(seed, m, p, s, leak=1.0):
    """Ritz values, a coupling to p further axes on which the matrix is s, and the eigenvalues of the whole."""
    rng = np.random.default_rng(seed)
    ritz = np.sort(rng.uniform(1, 3, m))[::-1]
    coupling = leak * rng.standard_normal((p, m))
    matrix = np.block([[np.diag(ritz), coupling.T], [coupling, s * np.eye(p)]])
    return ritz, coupling, np.linalg.eigvalsh(matrix)[::-1]


@given(
    seed=st.integers(0, 1000),
    shape=st.sampled_from([(8, 1), (9, 3), (3, 3), (2, 5)]),
    s=st.sampled_from([-1.0, 0.5, 2.0]),
    leak=st.sampled_from([1e-3, 0.1, 1.0]),
)
def test_inertia_is_attained_where_the_outside_is_a_multiple_of_the_identity(seed, shape, s, leak):
    """There Sylvester's law is an equality; the bound may add a tenth of the coupling's square and one in a hundred."""
    m, p = shape
    ritz, coupling, truth = arrow(seed, m, p, s, leak)
    wider = np.block([[np.diag(ritz), np.sqrt(1.1) * coupling.T], [np.sqrt(1.1) * coupling, s * np.eye(p)]])
    most = np.linalg.eigvalsh(wider)[::-1]
    found = [least_upper_bound(ritz, coupling, j, s, 0.0) for j in range(m)]
    together = upper_bounds(ritz, coupling, m, s, 0.0)
    for j in range(m):
        if most[j] > s + 1e-6:
            room = most[j] + 0.02 * (most[j] - max(ritz[j], s)) + 0.13 * max(0.0, most[j] - ritz[j]) + 1e-9
            assert truth[j] - 1e-12 <= found[j] <= room
            assert together[j] >= truth[j] - 1e-12
            near = max(found[j], ritz[j] + 0.1 * (ritz[j] - s), s + 0.1 * abs(s))  # what is that near is not refined
            assert together[j] <= near + 1e-9


@given(seed=st.integers(0, 1000), rounding=st.sampled_from([1e-3, 0.05]))
def test_errors_of_the_computed_numbers_are_covered(seed, rounding):
    """What was computed lies as far below the truth as `rounding` allows; every bound must make up for it."""
    ritz, coupling, truth = arrow(seed, 5, 2, 0.5)
    low = ritz - rounding
    size = np.linalg.norm(coupling, 2)
    short = coupling * max(0.0, 1 - rounding / size)
    assert least_upper_bound(low, short, 0, 0.5, rounding) >= truth[0]
    assert (upper_bounds(low, short, 5, 0.5, rounding) >= truth[:5] - 1e-12).all()
    block = np.block([[np.diag(ritz[2:]), coupling[:, 2:].T], [coupling[:, 2:], 0.5 * np.eye(2)]])
    assert outside_leading(low, short, 0.5, 2, rounding) >= np.linalg.eigvalsh(block)[-1]
    high, long = ritz + rounding, coupling * (1 + rounding / size)
    assert from_frobenius(float((truth**2).sum()), high, long, rounding) >= 0.5 * np.sqrt(2) - 1e-9
    assert from_frobenius(float((truth**2).sum()), ritz, coupling, 0.0) == pytest.approx(0.5 * np.sqrt(2), abs=1e-4)


@pytest.mark.parametrize("rounding", [1e-3, 0.05])
@pytest.mark.parametrize("computed", [0.0, 0.3, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("m", [1, 3])
def test_a_coupling_of_the_size_of_its_error_is_covered(m, computed, rounding):
    """Of one axis coupled to one more the coupling was found too small by `rounding`, and so was the Ritz value."""
    ritz = np.array([1.0, -5.0, -6.0])[:m]
    for gap in (0.25 * rounding, rounding, 4 * rounding, 0.5):
        true = (computed + 1) * rounding
        truth = np.linalg.eigvalsh([[1.0, true], [true, 1 - gap]])[-1]
        low, coupling = ritz - rounding, np.zeros((1, m))
        coupling[0, 0] = computed * rounding
        bound = least_upper_bound(low, coupling, 0, 1 - gap, rounding)
        assert truth - 1e-12 <= bound <= 1 + 12 * (truth - 1) + 12 * rounding
        assert upper_bounds(low, coupling, 1, 1 - gap, rounding)[0] >= truth - 1e-12


def test_a_fact_is_attained_in_two_dimensions():
    """l_2 = x and t_1 = a: then C = x + r^2 / (a - x) exactly, from the determinant."""
    a, x, r = 3.0, 1.0, 0.7
    c = x + r**2 / (a - x)
    assert np.linalg.eigvalsh([[a, r], [r, c]])[0] == pytest.approx(x)
    assert from_fact(1, x, np.array([a]), np.array([[r]]), 0.0) == pytest.approx(c, rel=1e-14)
    off = 0.1
    assert from_fact(1, x, np.array([a + off]), np.array([[r - off]]), off) == pytest.approx(c, rel=1e-14)
    assert from_fact(0, x, np.array([a]), np.array([[r]]), 0.0) == np.inf
    assert from_fact(2, x, np.array([a]), np.array([[r]]), 0.0) == np.inf
    assert from_fact(1, a, np.array([a]), np.array([[r]]), 0.0) == np.inf


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
@pytest.mark.parametrize("shape", [(8, 1), (3, 3), (2, 5)])
def test_units_do_not_matter(shape, unit):
    """Everything times a power of two, which rounds nothing: so is every bound, and no angle changes."""
    for s in (-1.0, 0.5, 2.0):
        ritz, coupling, truth = arrow(3, *shape, s, leak=0.3)
        scaled, leak = unit * ritz, unit * coupling
        for rounding in (0.0, 0.01):
            one = [least_upper_bound(ritz, coupling, j, s, rounding) for j in range(shape[0])]
            other = [least_upper_bound(scaled, leak, j, unit * s, unit * rounding) for j in range(shape[0])]
            np.testing.assert_allclose(other, unit * np.array(one), rtol=1e-12)
            together = upper_bounds(scaled, leak, shape[0], unit * s, unit * rounding)
            np.testing.assert_allclose(together, unit * upper_bounds(ritz, coupling, shape[0], s, rounding), rtol=1e-12)
            total = float((truth**2).sum())
            assert from_frobenius(unit**2 * total, scaled, leak, unit * rounding) == pytest.approx(
                unit * from_frobenius(total, ritz, coupling, rounding), rel=1e-12
            )
            assert from_fact(1, unit * s, scaled, leak, unit * rounding) == pytest.approx(
                unit * from_fact(1, s, ritz, coupling, rounding), rel=1e-12
            )
            here = certify(ritz, coupling, Outside(rigorous=s), 2, rounding)
            there = certify(scaled, leak, Outside(rigorous=unit * s), 2, unit * rounding)
            np.testing.assert_allclose(there.upper, unit * here.upper, rtol=1e-12)
            np.testing.assert_allclose(there.angle, here.angle, rtol=1e-9)
            np.testing.assert_allclose(there.width, here.width, rtol=1e-9)


def test_angles_of_a_turned_plane():
    """A Ritz vector at an angle t of a 2 x 2 matrix: residual = gap sin t cos t, and Davis & Kahan attain tan t."""
    for t in (1e-6, 1e-2, 0.3):
        turn = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
        matrix = turn @ np.diag([3.0, 1.0]) @ turn.T
        value, residual = matrix[0, 0], abs(matrix[1, 0])
        bound = angle_bounds(np.array([value]), np.array([residual]), np.array([value]), np.array([3.0]), 1.0)[0]
        assert t * (1 - 1e-9) <= bound <= 1.001 * np.arcsin(min(1.0, np.tan(t)))


def test_the_nearer_neighbour_decides_an_angle():
    """Davis & Kahan: the residual against the distance from the intervals above and below, whichever is less."""
    values, lower, upper = np.array([5.0, 4.0, 1.0]), np.array([4.5, 3.0, 0.0]), np.array([6.0, 4.2, 1.5])
    bound = angle_bounds(values, np.full(3, 0.1), lower, upper, 0.25)
    np.testing.assert_allclose(np.sin(bound), 0.1 / np.array([5 - 4.2, 4.5 - 4, 1 - 0.25]))
    assert angle_bounds(values, np.full(3, 0.1), lower, upper, 1.0)[2] == pytest.approx(np.pi / 2)


def test_angles_from_intervals_alone():
    """Nothing is known of residuals: the leading two capture all but 2e-4, with a gap of 2 below each."""
    values = np.array([5.0, 3.0])
    bound = angle_bounds(values, np.full(2, np.inf), values - 1e-4, values, 1.0)
    first = 1e-4 / (5 - 1e-4 - 3)
    second = 2e-4 / (3 - 1e-4 - 1)
    np.testing.assert_allclose(np.sin(bound) ** 2, [first, first + second], rtol=1e-9)
    touching = angle_bounds(values, np.full(2, np.inf), values - 1e-4, values, 3.0)
    assert touching[1] == pytest.approx(np.pi / 2)
    assert len(angle_bounds(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), 0.0)) == 0


def test_a_certificate_says_which_bound_it_took():
    ritz, coupling, truth = arrow(0, 6, 3, 0.5, leak=0.05)
    proved = certify(ritz, coupling, Outside(rigorous=0.5), 3, 0.0)
    assert (proved.kind == "rigorous").all()
    assert proved.failure_probability == 0
    assert (proved.lower <= truth[:3]).all()
    assert (truth[:3] <= proved.upper).all()
    likely = certify(ritz, coupling, Outside(rigorous=np.inf, probable=0.5), 3, 0.0)
    assert (likely.kind == "probabilistic").all()
    assert likely.failure_probability == 1e-10
    assert "fail with probability at most 1e-10" in str(likely)
    np.testing.assert_allclose(likely.upper, proved.upper)
    np.testing.assert_allclose(likely.angle, proved.angle)
    both = certify(ritz, coupling, Outside(rigorous=0.5, probable=0.4), 3, 0.0)
    assert (both.kind == "rigorous").all()  # hardly wider: what is proved is worth more
    shifted = certify(ritz, coupling, Outside(rigorous=0.5), 3, 0.125)
    np.testing.assert_array_equal(shifted.lower, ritz[:3] - 0.125)
    assert (shifted.upper > proved.upper + 0.12).all()
    assert (np.diff(certify(ritz, coupling, Outside(rigorous=0.5), 6, 0.0).upper) <= 0).all()


def test_a_certificate_cut_and_raised():
    ritz, coupling, _ = arrow(1, 6, 3, 0.5, leak=0.05)
    whole = certify(ritz, coupling, Outside(rigorous=0.5), 4, 0.0)
    part = whole[:2]
    assert len(part) == 2
    np.testing.assert_array_equal(part.upper, whole.upper[:2])
    floor = float(whole.upper[1] + 1)
    np.testing.assert_array_equal(whole.at_least(floor).lower, np.maximum(whole.lower, floor))
    np.testing.assert_array_equal(whole.at_least(floor).upper, np.maximum(whole.upper, floor))
    np.testing.assert_allclose(whole.width, (whole.upper - whole.lower) / whole.values)
    assert "rigorous" in str(whole)
    assert whole._repr_html_().count("<tr") == 5
    assert [row[0] for row in whole.rows()] == ["1", "2", "3", "4"]
    unknown = replace(whole, angle=np.array([0.1, np.pi / 2, 0.1, 0.1]))
    assert [row[-2] for row in unknown.rows()] == ["1.0e-01", "-", "1.0e-01", "1.0e-01"]
    assert str(whole).count("\n") == 5  # a header, four components and a footnote


def test_images_of_a_kernel_are_summed_from_the_nearest_on():
    """One axis: images lie at multiples of the period, at most `nearest` closer; the bound is close to their sum."""
    period, nearest = 4.0, 2.5

    def gauss(r):
        return np.exp(-(r**2) / 2)

    images = np.arange(1, 50)
    worst = max(
        gauss(np.abs(r + period * images)).sum() + gauss(np.abs(r - period * images)).sum()
        for r in np.linspace(-(period - nearest), period - nearest, 61)
    )
    bound = aliasing_bound(gauss, np.array([period]), np.array([nearest]))
    assert worst <= bound <= 1.05 * worst
    square = aliasing_bound(gauss, np.array([period, period]), np.array([nearest, nearest]))
    assert square >= 2 * bound
    assert square <= 2 * bound * 1.2 + bound**2 + 2 * bound


def test_what_the_frequencies_leave_out():
    assert truncation(1.0, 0.25, 1.0, 0.0) == 0.25
    assert truncation(2.0, 0.0, 3.0, 0.125) == 0.25


def test_the_mean_of_samples_is_bounded_by_bernstein():
    """Maurer & Pontil's theorem 4, term by term."""
    samples = np.r_[np.ones(400), np.zeros(9600)]
    log = np.log(2 / 1e-3)
    expected = 0.04 + np.sqrt(2 * samples.var(ddof=1) * log / 10_000) + 7 * log / (3 * 9_999)
    assert root_mean_square_bound(samples, 1e-3) == pytest.approx(np.sqrt(expected), rel=1e-12)
    assert root_mean_square_bound(np.ones(10), 1e-3) == 1.0
