"""Options that several commands share."""

from __future__ import annotations

import click

__all__ = ["json_option", "model_option", "spec_argument"]


def _by_name(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    """``NAME=PATH`` pairs as a mapping; each name once."""
    models: dict[str, str] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise click.BadParameter(f"`{pair}` names no model and file; write --model NAME=PATH")
        if name in models:
            raise click.BadParameter(f"the model `{name}` is given twice; write one file for it")
        models[name] = path
    return models


spec_argument = click.argument("spec", type=click.Path(exists=True, dir_okay=False))

json_option = click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")

model_option = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME=PATH",
    callback=_by_name,
    help="Take the model NAME from this file; a sha256 in the spec still binds.",
)
