"""
Relevance feedback: a search that learns what is wanted
=======================================================

Someone looks for one kind of picture among many and marks, of the twenty shown, those that are right. What is wanted is
one class; what is not wanted is anything. The biased discriminant gathers the first and pushes each of the others away
on its own; Fisher's takes all of the others for one class. Both learn what is wanted from a few rounds of marks.
"""

# %%
# The collection are scikit-learn's digits; the search begins with one example. After each round the marked pictures
# teach the discriminant, and the twenty unmarked ones that it ranks first are shown next.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramless import BiasedDiscriminantAnalysis, KernelDiscriminantAnalysis

X, y = load_digits(return_X_y=True)
ROUNDS, SHOWN = 6, 20


def search(query, make):
    """Precision among the first hundred after each round; `make` gives a discriminant, None goes by distance."""
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
# On digits Fisher's discriminant is the quicker of the two for a few rounds: the others *are* ten classes at most, well
# apart from the one that is wanted. After four rounds both find nearly nothing else.

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
axis.set(xlabel="rounds of feedback", ylabel="right among the first 100", title="30 searches")
axis.legend()
plt.show()
