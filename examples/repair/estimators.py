"""What is trained: estimators of scikit-learn, made new each time, with their own seeds."""

from __future__ import annotations

from typing import Any


def tree() -> Any:
    """A decision tree that is grown until every leaf is pure."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0)


def forest() -> Any:
    """Ten trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=10, max_depth=8, random_state=0)


def network() -> Any:
    """A small network over scaled numbers."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), MLPClassifier((16, 8), early_stopping=True, random_state=0))
