"""VNN-LIB: questions about pairs for verifiers of neural networks, and the way back from their answers."""
