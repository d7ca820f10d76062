"""Makes the files of this folder, as PyTorch 2 exports them: `python tests/models/torch_files/make_files.py`.

Both exporters: TorchScript's, which writes activations out, and dynamo's, with all weights in a file beside, as it
keeps those of larger networks. Weights are drawn. `answers.json` has rows and what the modules themselves compute.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import nn
from torch.nn import functional

HERE = Path(__file__).parent


class Coded(nn.Module):
    """The last column is a job, coded inside of the network."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.score = nn.Linear(5, 4), nn.Linear(4, 1)

    def forward(self, people: torch.Tensor) -> torch.Tensor:
        jobs = functional.one_hot(people[:, 2].long(), 3).float()
        return self.score(functional.silu(self.hidden(torch.cat([people[:, :2], jobs], 1))))


class Embedded(nn.Module):
    """The last column is looked up in a table."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs, self.hidden, self.score = nn.Embedding(3, 2), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, people: torch.Tensor) -> torch.Tensor:
        joined = torch.cat([people[:, :2], self.jobs(people[:, 2].long())], 1)
        return self.score(functional.gelu(self.hidden(joined)))


def modules() -> dict[str, nn.Module]:
    """A residual connection and normalisation beside the two above."""
    plain = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ELU(0.7), nn.Dropout(0.1), nn.Linear(4, 4), nn.SELU())
    return {"coded": Coded(), "embedded": Embedded(), "plain": nn.Sequential(plain, nn.Hardswish(), nn.Linear(4, 1))}


def without_notes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The file without where in which program each node comes from."""
    for node in model.graph.node:
        node.doc_string = ""
    for part in (
        *model.graph.node,
        *model.graph.value_info,
        *model.graph.input,
        *model.graph.output,
        model.graph,
        model,
    ):
        del part.metadata_props[:]
    for tensor in model.graph.initializer:
        del tensor.metadata_props[:]
    return model


def people(count: int) -> torch.Tensor:
    """Two numbers and a job each."""
    numbers = torch.round(torch.rand(count, 2) * 600 - 300) / 100
    return torch.cat([numbers, torch.randint(0, 3, (count, 1)).float()], 1)


def exported(folder: Path, rows: torch.Tensor) -> dict[str, list[float]]:
    """Draw the weights of each module and export it in both ways; what it computes for the rows."""
    answers = {}
    for name, module in modules().items():
        with torch.no_grad():
            for parameter in [*module.parameters(), *module.buffers()]:
                if parameter.is_floating_point():
                    sizes = torch.round((torch.rand_like(parameter) + 0.25) * 1000) / 1000
                    parameter.copy_(sizes * torch.sign(torch.randn_like(parameter)))
            for each in module.modules():
                if isinstance(each, nn.BatchNorm1d):
                    each.running_var.abs_()
            module.eval()
            answers[name] = module(rows)[:, 0].tolist()
        script = folder / f"{name}_script.onnx"
        torch.onnx.export(module, (rows[:2],), script, dynamo=False, opset_version=17, verbose=False)
        program = torch.onnx.export(module, (rows[:2],), dynamo=True, verbose=False)
        content, path = without_notes(program.model_proto), folder / f"{name}_dynamo.onnx"
        onnx.save_model(content, path, save_as_external_data=True, location=f"{path.name}.data", size_threshold=0)
    return answers


def main() -> None:
    torch.manual_seed(20)
    rows = people(60)
    answers: dict[str, Any] = {"rows": [[round(number, 2) for number in row] for row in rows.tolist()]}
    answers.update(exported(HERE, rows))
    (HERE / "answers.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
