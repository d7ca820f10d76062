"""Heuristic pruning: a smaller network that is another network, and says so.

``profile`` counts how often units are active, ``remove`` makes the network without those that seldom are,
``onnx_file`` writes it. A verdict on the pruned network is not a proof about the original one.
"""
