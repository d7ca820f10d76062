"""ONNX files that fairdsl writes: networks for verifiers, and files around somebody's model."""
