import json
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from gramless import KernelKMeans, KernelPCA
from gramless.estimators.summary import facts, summary_rows

X = np.random.default_rng(0).random((40, 3))


class Texts(HTMLParser):
    """Texts of table cells, and the tags that were seen."""

    def __init__(self, page):
        super().__init__()
        self.cells, self.tags = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


@pytest.fixture(scope="module")
def kpca():
    return KernelPCA(3, kernel="rbf", gamma=2.0).fit(X)


def summary_of(model):
    return model._repr_html_().partition('<div class="gramless-summary">')[2]


def test_keeps_the_diagram_of_scikit_learn(kpca):
    page = kpca._repr_html_()
    diagram = page.partition('<div class="gramless-summary">')[0]
    assert "sk-top-container" in diagram
    assert "sk-top-container" in estimator_html_repr(kpca)
    assert len(Texts(summary_of(kpca)).cells) > 0


def test_shows_nothing_more_before_the_fit():
    assert "gramless-summary" not in KernelPCA()._repr_html_()


def test_tells_kernel_method_plan_and_certificate(kpca):
    cells = Texts(summary_of(kpca)).cells
    assert str(kpca.plan_.problem.kernel) in cells
    assert kpca.method_ in cells
    assert f"{kpca.eigenvalues_[0]:.10g}" in cells
    assert set(kpca.plan_.candidates) <= set(cells)


def test_the_bundle_for_notebooks_says_the_same(kpca):
    bundle = kpca._repr_mimebundle_()
    assert "gramless-summary" in bundle["text/html"]
    assert bundle["text/plain"] == repr(kpca)


def test_text_display_has_no_html(kpca):
    with sklearn.config_context(display="text"):
        assert not hasattr(kpca, "_repr_html_")
        assert "text/html" not in kpca._repr_mimebundle_()


def test_pipelines_still_draw(kpca):
    assert "KernelPCA" in make_pipeline(StandardScaler(), kpca)._repr_html_()


def test_names_from_the_user_are_escaped():
    def kernel(x, y):
        return float(x @ y)

    kernel.__qualname__ = kernel.__name__ = "<script>alert(1)</script>"
    model = KernelPCA(2, kernel=kernel).fit(X[:12])
    shown = summary_of(model) + model.plan_._repr_html_()
    assert "<script>" not in shown
    assert "script" not in Texts(shown).tags


def test_plan_marks_what_was_chosen(kpca):
    assert f"<strong>{kpca.plan_.chosen}</strong>" in kpca.plan_._repr_html_()
    assert f"<caption>{kpca.plan_.title()}</caption>" in kpca.plan_._repr_html_()


def test_certificate_has_a_row_for_each_component(kpca):
    texts = Texts(kpca.certificate_._repr_html_())
    assert texts.tags.count("tr") == 1 + 3


def test_facts_survive_json(kpca):
    told = json.loads(json.dumps(facts(kpca), allow_nan=False))
    assert told["eigenvalues"] == kpca.eigenvalues_.tolist()
    assert told["certificate"]["upper"] == kpca.certificate_.upper.tolist()
    assert told["weight"] == 40


def test_facts_of_a_stream_count_its_rows():
    stream = KernelPCA(2, kernel="rbf").partial_fit(X[:30]).partial_fit(X[30:])
    assert dict(summary_rows(stream))["fitted to"] == "40 rows of 3 columns"


def test_facts_of_clusters():
    model = KernelKMeans(2, random_state=0).fit(X)
    told = facts(model)
    assert (told["clusters"], told["inertia"]) == (2, model.inertia_)
    assert "gramless-summary" in model._repr_html_()
