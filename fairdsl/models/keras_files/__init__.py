"""Networks in Keras' own files, `.keras` and `.h5` of Keras 3, without Keras: what `model.save` writes.

``archive.py`` opens a file, ``network.py`` follows its layers from the inputs to the outputs, and ``layers.py`` says
what each layer computes, in nodes as ONNX has them, which the importer of ONNX files then reads. No runtime stands
beside the reading, so the tests hold it against Keras' own answers.
"""

from fairdsl.models.keras_files.reading import read_keras

__all__ = ["read_keras"]
