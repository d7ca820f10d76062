"""An estimator of nobody's library."""

import numpy as np


class Majority:
    """Everybody gets what most got."""

    def fit(self, features, classes):
        self.most = int(np.bincount(classes).argmax())

    def predict(self, features):
        return np.full(len(features), self.most)
