"""Gradient boosting in the libraries' own files: XGBoost (JSON, UBJ), LightGBM (text), CatBoost (JSON).

``library_of`` sees by the content which library wrote a file. Each reader gives a ``Forest``: trees as nested splits,
and what becomes of their sums; ``forest.py`` makes a graph of it. No runtime stands beside the reading, as ONNX files
have one, so the tests hold it against the libraries' own answers.
"""

from fairdsl.models.boosters.reading import LIBRARIES, forest_of, library_of, read_booster

__all__ = ["LIBRARIES", "forest_of", "library_of", "read_booster"]
