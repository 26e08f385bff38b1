"""What the command knows: `treescore metrics`, `formats`, `transforms`, `cite`, `suggest`, and a shell's completion."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

import click
import orjson

from treescore.cli.exits import epilog
from treescore.cli.options import FORMATS, METRICS, TRANSFORMS, OneOf, completer, json_words

if TYPE_CHECKING:
    from treescore.evaluation.spec import Suggestion


def _catalogue(kind: str, example: str, words: str) -> click.Command:
    """Return the command that lists what there is of a kind, or describes one of it."""
    commands = (f"treescore {kind}", f"treescore {kind} {example}", f"treescore {kind} --json")

    @click.command(kind, help=words, epilog=epilog(*commands))
    @click.argument("name", required=False, metavar="[NAME]", shell_complete=completer(kind))
    @click.option("--json", "as_json", is_flag=True, help="Print the entries of the service's catalogue.")
    def command(name: str | None, *, as_json: bool) -> None:
        from treescore.cli.catalogue import KINDS, show  # noqa: PLC0415 - the help needs no registry

        show(KINDS[kind], name, as_json=as_json)

    return command


metrics = _catalogue(METRICS, "ud", "List the metrics, or describe one with its parameters.")
formats = _catalogue(FORMATS, "pharaoh", "List the formats, or describe one with its options.")
transforms = _catalogue(TRANSFORMS, "heads", "List the transforms, or describe one with its parameters.")


@click.command(epilog=epilog("treescore cite", "treescore cite ud parseval >> references.bib"))
@click.argument("names", nargs=-1, metavar="[METRIC]...", shell_complete=completer(METRICS))
def cite(names: tuple[str, ...]) -> None:
    """Print BibTeX of Treescore and of the papers of the metrics that are named, or of all.

    Above each paper stand the metrics that are to be cited by it.
    """
    from treescore.cli.catalogue import bibtex  # noqa: PLC0415 - the help needs no registry

    click.echo("\n".join(bibtex(names)), nl=False)


@click.command(epilog=epilog("treescore suggest gold.txt", "treescore suggest gold.txt --json"))
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def suggest(file: str, *, as_json: bool) -> None:
    """Tell the format of a file by its first lines, with the metrics that fit it, and say why.

    FILE is a path, or - for standard input.
    """
    from treescore.api import suggest as suggested  # noqa: PLC0415 - the help needs no registry
    from treescore.cli.files import one_source  # noqa: PLC0415 - as above

    found = suggested(one_source(file))
    if as_json:
        click.echo(orjson.dumps({"suggestions": [each.document() for each in found]}, option=orjson.OPT_INDENT_2))
        return
    formatter = click.get_current_context().make_formatter()
    if not found:
        formatter.write_text(f"The first lines of {file} fit no format. `treescore formats` lists all.")
    for number, suggestion in enumerate(found):
        _write(formatter, suggestion, file, best=number == 0)
    click.echo(formatter.getvalue(), nl=False)


def _write(formatter: click.HelpFormatter, suggestion: Suggestion, file: str, *, best: bool) -> None:
    formatter.write_text(f"{suggestion.certainty.capitalize()}: format {json_words(suggestion.format)}")
    with formatter.indentation():
        formatter.write_dl([("why", " ".join(suggestion.why))])
        formatter.write_dl([(json_words(scored.metric), scored.why) for scored in suggestion.metrics])
        if best and suggestion.metrics:
            command = ["treescore", "score", "--format", json_words(suggestion.format)]
            command += ["--metric", json_words(suggestion.metrics[0].metric), file, "OUTPUT"]
            formatter.write(f"{' ' * formatter.current_indent}{shlex.join(command)}\n")
    formatter.write("\n")


class Shell(NamedTuple):
    """How the script is installed in a shell.

    Attributes:
        install: the line that a person runs once.
        where: what makes it hold.
    """

    install: str
    where: str


SHELLS = {
    "bash": Shell("treescore completion bash > ~/.treescore.bash", "Add `. ~/.treescore.bash` to ~/.bashrc."),
    "zsh": Shell("treescore completion zsh > ~/.treescore.zsh", "Add `. ~/.treescore.zsh` to ~/.zshrc."),
    "fish": Shell("treescore completion fish > ~/.config/fish/completions/treescore.fish", "New shells find it."),
}
_PROGRAM, _VARIABLE = "treescore", "_TREESCORE_COMPLETE"


@click.command(epilog=epilog(*(shell.install for shell in SHELLS.values())))
@click.argument("shell", type=OneOf(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script that completes commands in a shell.

    It completes commands, options, names of metrics, formats and transforms, and files. Its last lines say what makes a
    shell read it.
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - the help can spare it

    made = get_completion_class(shell)
    root = click.get_current_context().find_root().command
    if made is None:  # pragma: no cover - click has all of SHELLS
        raise click.ClickException(f"This click has no completion for {shell}.")
    said = SHELLS[shell]
    click.echo(made(root, {}, _PROGRAM, _VARIABLE).source())
    click.echo(f"# To install: {said.install}\n# {said.where}")
