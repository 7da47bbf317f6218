"""
Relevance feedback: learning from marked results
================================================

A user searches for one class of images among many and marks, of the twenty shown, the relevant ones. The positives form
one class; the negatives need not. The biased discriminant concentrates the positives and separates each negative on its
own; Fisher's discriminant treats all negatives as one class. Both learn from a few rounds of feedback.
"""

# %%
# The collection is scikit-learn's digits; the search starts with one example. After each round the discriminant is
# fitted to the marked images, and the twenty unmarked images that it ranks first are shown next.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramless import BiasedDiscriminantAnalysis, KernelDiscriminantAnalysis

X, y = load_digits(return_X_y=True)
ROUNDS, SHOWN = 6, 20


def search(query, make):
    """Precision among the first hundred after each round; `make` returns a discriminant, None ranks by distance."""
    wanted = y == y[query]
    ranking = np.argsort(((X - X[query]) ** 2).sum(axis=1))
    marked, precision = [query], []
    for _ in range(ROUNDS):
        precision.append(wanted[[i for i in ranking if i not in {query}][:100]].mean())
        marked += [i for i in ranking if i not in set(marked)][:SHOWN]
        if make is not None and 1 < wanted[marked].sum() < len(marked):
            ranking = np.argsort(-make().fit(X[marked], wanted[marked]).decision_function(X))
    return precision


# %%
# On digits Fisher's discriminant converges faster for a few rounds: the negatives *are* at most ten classes, well
# separated from the positives. After four rounds nearly all results of both are relevant.

contenders = {
    "distance, no feedback": None,
    "KLDA": lambda: KernelDiscriminantAnalysis(n_coordinates=None),
    "KBDA": lambda: BiasedDiscriminantAnalysis(n_coordinates=None),
}
queries = np.random.default_rng(0).choice(len(X), 30, replace=False)
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for name, make in contenders.items():
    precision = np.array([search(query, make) for query in queries])
    axis.errorbar(range(ROUNDS), precision.mean(axis=0), precision.std(axis=0) / np.sqrt(30), label=name, capsize=3)
    print(f"{name:22s} precision by round:", *(f"{value:.2f}" for value in precision.mean(axis=0)))
axis.set(xlabel="rounds of feedback", ylabel="precision at 100", title="30 searches")
axis.legend()
plt.show()
