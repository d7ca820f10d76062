"""Boosters, modules and sessions, as the frameworks' own objects, as the bytes of a file that is read.

What an object is, is seen by its methods, so that no framework is imported to find out: whoever gives a booster has
its library loaded. A booster is asked for the file that it would save, which is read exactly; a module of PyTorch is
exported to ONNX in evaluation mode, and is left in the mode in which it came; a model of Keras exports itself.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fairdsl.models.exporting.refused import NotExportedError
from fairdsl.source.reading import content_of

_EXPORTED = "export it by `torch.onnx.export` with an example of its input, and give the path of the file"


def writer_of(given: Any) -> Callable[[], bytes] | None:
    """What makes a file of a booster or a module; it raises NotExportedError. None for anything else."""
    if callable(getattr(given, "get_booster", None)) or callable(getattr(given, "save_raw", None)):
        return lambda: _written(_xgboost, given)
    if callable(getattr(given, "model_to_string", None)) or hasattr(type(given), "booster_"):
        return lambda: _written(_lightgbm, given)
    if type(given).__module__.startswith("catboost.") and callable(getattr(given, "save_model", None)):
        return lambda: _written(_catboost, given)
    if type(given).__module__.startswith("keras.") and callable(getattr(given, "export", None)):
        return lambda: _written(_keras, given)
    if callable(getattr(given, "forward", None)) and callable(getattr(given, "named_modules", None)):
        return lambda: _written(_torch, given)
    return None


def _written(write: Callable[[Any], bytes], given: Any) -> bytes:
    try:
        return write(given)
    except NotExportedError:
        raise
    except Exception as problem:  # each framework raises classes of its own
        said = f"{type(problem).__name__}: {problem}".strip().splitlines()[0][:200]
        raise NotExportedError(f"`{type(given).__name__}` was not written: {said}", None) from problem


def _xgboost(given: Any) -> bytes:
    """The estimator's predict takes the rounds up to the best one where training stopped early; a booster's all."""
    wrapped = hasattr(given, "get_booster")
    booster = given.get_booster() if wrapped else given
    best = booster.attributes().get("best_iteration") if wrapped else None
    return bytes((booster if best is None else booster[: int(best) + 1]).save_raw(raw_format="ubj"))


def _lightgbm(given: Any) -> bytes:
    booster = given.booster_ if hasattr(type(given), "booster_") else given
    text: str = booster.model_to_string()
    return text.encode("utf-8")


def _catboost(given: Any) -> bytes:
    with TemporaryDirectory() as folder:  # it writes to paths only
        path = str(Path(folder, "model.json"))
        given.save_model(path, format="json")
        return content_of(path)


def _keras(model: Any) -> bytes:
    """What Keras 3 exports for inference, whatever computes behind it."""
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()):  # it writes to paths only, and tells of it
        path = str(Path(folder, "model.onnx"))
        try:
            model.export(path, format="onnx", verbose=False)
        except ImportError as problem:
            help_text = "install what Keras' exporter needs, or give an ONNX file of your own"
            raise NotExportedError(str(problem).strip().splitlines()[0][:200], help_text) from problem
        return content_of(path)


def _torch(module: Any) -> bytes:
    """The first layer that says how wide its input is tells the width of the matrix that the module takes."""
    wide = next((each.in_features for _, each in module.named_modules() if hasattr(each, "in_features")), None)
    if wide is None:
        raise NotExportedError("no layer of this module says how many columns it takes", _EXPORTED)
    torch: Any = import_module("torch")
    modes = [(each, each.training) for _, each in module.named_modules()]  # parts may be frozen, and others not
    module.eval()
    try:
        with redirect_stdout(StringIO()):  # the exporter tells each of its steps
            program = torch.onnx.export(
                module,
                (torch.zeros(2, wide),),
                dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
                input_names=["X"],
                dynamo=True,
            )
        content: bytes = program.model_proto.SerializeToString()
    except ImportError as problem:
        help_text = f"install `{problem.name}`, which torch's exporter needs, or give an ONNX file of your own"
        raise NotExportedError(f"`{problem.name}` is not installed", help_text) from problem
    except Exception as problem:
        said = f"{problem.__cause__ or problem}".strip().splitlines() or [type(problem).__name__]
        reason = f"torch's exporter failed on a matrix of {wide} columns, which a layer of the module takes: {said[0]}"
        raise NotExportedError(reason[:300], _EXPORTED) from problem
    finally:
        for each, mode in modes:
            each.training = mode
    return content


def is_session(given: object) -> bool:
    """Whether it is a session of onnxruntime."""
    return all(callable(getattr(given, name, None)) for name in ("get_inputs", "get_outputs", "run"))


def content_of_session(session: Any) -> bytes:
    """The bytes of its file; raises NotExportedError where it does not say which that was."""
    content, path = (getattr(session, name, None) for name in ("_model_bytes", "_model_path"))
    if isinstance(content, bytes):
        return content
    if not isinstance(path, str):
        raise NotExportedError("this session does not say which file it runs", "give the path of the file")
    try:
        return content_of(path)
    except OSError as problem:
        raise NotExportedError(f"`{path}`: {problem.strerror}", "give the path of the file") from problem
