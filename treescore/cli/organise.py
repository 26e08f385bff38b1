"""`treescore organise`: what organisers do with their benchmark on a running service, from any machine.

`webhooks` are the addresses to which a service sends events. A table of teams is CSV with the header `id,name,contact`,
whose faults are named by its lines.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import click
import orjson

from treescore.cli.exits import WRONG_INPUT, Stopped, epilog
from treescore.cli.options import EndTime, is_path
from treescore.cli.parts import PartFiles, files_by_part, files_of_new_parts, paths_of, texts_of
from treescore.cli.service import Answer, asks, columns, listed
from treescore.client import OPERATIONS, Client, Document, problem_lines


@click.group()
def webhooks() -> None:
    """Have events sent to an address."""


@asks(webhooks, "list")
def list_webhooks(client: Client) -> Answer:
    """List webhooks; their secrets cannot be shown."""
    return listed("webhooks", list(client.webhooks.list()), ("id", "url", "benchmark", "kinds", "failures"))


@asks(webhooks, "add")
@click.argument("address", metavar="URL")
@click.option("--benchmark", help="Only events of this one.")
@click.option("--kind", "kinds", multiple=True, help="Only events of this kind. Repeatable.")
def add_webhook(client: Client, address: str, benchmark: str | None, kinds: Sequence[str]) -> Answer:
    """Send events to URL.

    Prints the secret that signs them, which is shown only here.
    """
    made = client.webhooks.create(address, kinds=list(kinds) or None, benchmark=benchmark)
    return Answer(made.document, [f"{made['id']}  {made['secret']}"])


@asks(webhooks, "test")
@click.argument("webhook", metavar="ID")
def test_webhook(client: Client, webhook: str) -> Answer:
    """Send a test event.

    The command `deliveries` shows what became of it.
    """
    made = client.webhooks.test(webhook)
    return Answer(made.document, [f"{made['id']}  {made['state']}"])


@asks(webhooks, "deliveries")
@click.argument("webhook", metavar="ID")
def deliveries(client: Client, webhook: str) -> Answer:
    """List what was sent or waits, newest first."""
    names = ("id", "type", "state", "attempts", "last_status", "attempted_at", "next_at")
    return listed("deliveries", list(client.webhooks.deliveries(webhook)), names)


@asks(webhooks, "remove")
@click.argument("webhook", metavar="ID")
def remove_webhook(client: Client, webhook: str) -> Answer:
    """Send nothing to a webhook any more."""
    client.webhooks.delete(webhook)
    return Answer({"id": webhook}, [f"Removed {webhook}."])


BOARDS = ("csv", "tsv", "markdown", "latex", "svg", "json")
SCORES = ("csv", "ndjson", "json")


@click.group(
    epilog=epilog(
        "treescore organise make conll2018.json --id demo en=gold.conllu",
        "treescore organise make conll2018.json --id demo gold.zip",
        "treescore organise settings demo about.toml",
        "treescore organise teams demo teams.csv > tokens.csv",
        "treescore organise revise demo en=gold.conllu --reason fix --dry-run",
        "treescore organise withdraw sub_01M7 --reason 'sent twice'",
        "treescore organise webhooks deliveries whk_01M7",
        status_3="not allowed: the token is missing, or is not an organiser's",
        status_4="the service did not answer, or did not finish within --timeout",
    )
)
def organise() -> None:
    """Organise a benchmark: settings, teams, submissions, revisions, figures, tokens.

    The token with the scope organise is read from TREESCORE_TOKEN.
    """


def _as_json(document: Document) -> Answer:
    for warning in document["warnings"]:
        click.echo(f"warning: {warning['pointer']}: {warning['detail']}", err=True)
    return Answer(document.document, orjson.dumps(document.document, option=orjson.OPT_INDENT_2).decode().splitlines())


@asks(organise, "make")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("gold", nargs=-1, required=True, metavar="[PART=]FILE...")
@click.option("--id", "name", help="The id of the benchmark, unless FILE has one.")
def make(client: Client, file: Path, gold: Sequence[str], name: str | None) -> Answer:
    """Make a benchmark from its document and gold.

    FILE (TOML or JSON) has members as a request has them: id, title, format, metrics, main_score, ...; a string @PATH
    among the parameters of a metric stands for the text of that file. Gold is given as PART=FILE, or as files, a folder
    or a zip archive of files that are named after their parts (en.conllu, or en.source.txt for a format of several
    texts). Waits until it is checked, then prints the benchmark.
    """
    members = {**_with_texts(_members(file), file.parent), **({} if name is None else {"id": name})}
    files = files_of_new_parts(gold, members.get("format"))
    made = client.benchmarks.create(members, texts_of(files), wait=True, check=False)
    _check(made, files)
    return _as_json(made)


@asks(organise, "settings")
@click.argument("benchmark")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def settings(client: Client, benchmark: str, file: Path | None) -> Answer:
    """Print or change the settings of BENCHMARK.

    FILE (TOML or JSON) has members as a request has them: about, notice, closes_at, quota, feedback, leaderboard, ...
    """
    found = client.benchmark(benchmark)
    return _as_json(found.get() if file is None else found.change(_members(file)))


def _with_texts(members: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return members with texts in the places of paths among the parameters of metrics.

    Raises:
        Stopped: a file cannot be read.
    """
    metrics = members.get("metrics")
    for entry in metrics if isinstance(metrics, list) else ():
        params = entry.get("params") if isinstance(entry, dict) else None
        if isinstance(params, dict):
            params.update({name: _text_of_file(folder / value[1:]) for name, value in params.items() if is_path(value)})
    return members


def _text_of_file(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Stopped(WRONG_INPUT, f"{file}: it cannot be read: {error}") from error


def _members(file: Path) -> dict[str, Any]:
    """Return the members that a file gives.

    Raises:
        Stopped: it is neither TOML nor JSON, or no object.
    """
    try:
        text = file.read_text(encoding="utf-8")
        members = tomllib.loads(text) if file.suffix == ".toml" else orjson.loads(text)
        given: Any = orjson.loads(orjson.dumps(members))  # times of TOML become texts
    except (OSError, UnicodeDecodeError, ValueError) as error:
        form = "TOML" if file.suffix == ".toml" else "JSON"
        raise Stopped(WRONG_INPUT, f"{file}: it cannot be read as {form}: {error}") from error
    if not isinstance(given, dict):
        raise Stopped(WRONG_INPUT, f'{file}: write an object, as in: {{"closes_at": "2027-11-01T23:59:59Z"}}')
    return given


@asks(organise, "teams")
@click.argument("benchmark")
@click.argument("table", required=False, type=click.File("rb"))
def teams(client: Client, benchmark: str, table: BinaryIO | None) -> Answer | str:
    """List the teams of BENCHMARK, or make new ones.

    All of TABLE (CSV with the header id,name,contact; - for standard input)
    are made, or none. New teams are printed as CSV with their tokens, which
    are shown only here.
    """
    if table is None:
        return listed("teams", list(client.benchmark(benchmark).teams()), ("id", "name", "contact", "created_at"))
    csv = {"Content-Type": "text/csv", "Accept": "text/csv"}
    return client.call("create_team", {"benchmark": benchmark}, headers=csv, json=table.read()).text


@asks(organise, "invite")
@click.argument("benchmark")
@click.option(
    "--until", required=True, type=EndTime(), help="Time in UTC after which no one can join; of a date its end."
)
@click.option("--teams", "most", required=True, type=click.IntRange(1), help="Teams that can be made with it.")
def invite(client: Client, benchmark: str, until: datetime, most: int) -> Answer:
    """Let strangers make teams of BENCHMARK.

    Prints the address to send them, which is shown only here.
    """
    made = client.benchmark(benchmark).invite(until.isoformat(), most)
    return Answer(made.document, [f"{made['id']}  {client.url.rstrip('/')}{made['address']}"])


@asks(organise, "invites")
@click.argument("benchmark")
@click.option("--withdraw", metavar="ID", help="Let no one join with this one any more; its teams stay.")
def invites(client: Client, benchmark: str, withdraw: str | None) -> Answer:
    """List the invites of BENCHMARK, or withdraw one."""
    found = client.benchmark(benchmark)
    if withdraw is not None:
        found.withdraw_invite(withdraw)
    return listed("invites", list(found.invites()), ("id", "expires_at", "teams", "teams_at_most", "joined"))


@asks(organise, "change")
@click.argument("submission")
@click.option("--name", help="What it is called.")
@click.option("--notes", help="On how it was made.")
@click.option("--chosen/--not-chosen", default=None, help="Whether a board of chosen submissions shows it.")
@click.option("--paper", help="Address of its paper; empty for none.")
@click.option("--code", help="Address of its code; empty for none.")
@click.option("--model", help="Address of its model; empty for none.")
def change(
    client: Client, submission: str, name: str | None, notes: str | None, *, chosen: bool | None, **links: str | None
) -> Answer:
    """Print or change the name, notes, choice and links of SUBMISSION."""
    own = client.submission(submission)
    given = {kind: address or None for kind, address in links.items() if address is not None}
    asked = bool(given) or any(value is not None for value in (name, notes, chosen))
    document = own.change(name=name, notes=notes, chosen=chosen, links=given or None) if asked else own.get()
    shown = {member: document[member] for member in ("name", "notes", "chosen")} | dict(document["links"] or {})
    return Answer(shown, [f"{member:<6}  {value}" for member, value in shown.items() if value is not None])


@asks(organise, "revise")
@click.argument("benchmark")
@click.argument("gold", nargs=-1, metavar="[[PART=]FILE]...")
@click.option("--reason", required=True, help="Why; teams see it only where the benchmark shows gold.")
@click.option("--settings", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TOML or JSON.")
@click.option("--dry-run", is_flag=True, help="Score all under it and show who would move; it never becomes active.")
def revise(
    client: Client, benchmark: str, gold: Sequence[str], reason: str, file: Path | None, *, dry_run: bool
) -> Answer:
    """Revise gold or rules of BENCHMARK.

    Gold is given as PART=FILE, or as files, a folder or a zip archive of files that are named after parts of the
    benchmark. Waits, then prints what changes and who moves.
    """
    members = {} if file is None else _members(file)
    found = client.benchmark(benchmark)
    known = found.get()
    files = files_by_part(gold, {**known, **members, "parts": known["parts"]}, new=True)
    asked = {**members, "reason": reason, "dry_run": dry_run}
    made = found.revise(asked, texts_of(files) or None, wait=True, check=False)
    _check(made, files)
    return _difference(found.difference(int(made["number"])))


def _check(made: Document, files: PartFiles) -> None:
    """Raise Stopped, with the faults, where gold cannot be used."""
    failure = made["failure"]
    if failure is not None:
        lines = problem_lines(failure["errors"], paths_of(files), failure["errors_total"]) or [failure["detail"]]
        raise Stopped(WRONG_INPUT, *lines)


@asks(organise, "difference")
@click.argument("benchmark")
@click.argument("number", type=click.IntRange(1))
def difference(client: Client, benchmark: str, number: int) -> Answer:
    """Print what a revision changes and who moves.

    Also before revision NUMBER of BENCHMARK is active.
    """
    return _difference(client.benchmark(benchmark).difference(number))


def _difference(found: Document) -> Answer:
    head = f"Revision {found['revision']} against {found['against']}: {found['state']}"
    lines = [head + (", a dry run." if found["dry_run"] else ".")]
    if found["parts"]:
        lines += ["", *columns(found["parts"], ("name", "change", "sentences_after", "sentences_changed"))]
    lines += [f"{each['name']}: {each['before']} -> {each['after']}" for each in found["settings"]]
    if found["moved"]:
        lines += ["", *columns(found["moved"], ("team", "rank_before", "rank_after", "score_before", "score_after"))]
    elif found["moved"] is not None:
        lines.append("No rank changes.")
    return Answer(found.document, lines)


@asks(organise, "fitting")
@click.argument("benchmark")
def fitting(client: Client, benchmark: str) -> Answer:
    """Print what speaks for fitting to the test set, most suspicious team first.

    Whose score of BENCHMARK jumps (and to what), who sent outputs of other teams, how often teams ask about their
    scores, and how far each climbed by that.
    """
    names = ("team", "submissions", "jump", "equal_parts", "equal_to", "validations", "climbs", "longest_climb")
    found = [each.document for each in client.benchmark(benchmark).fitting()]
    rows = [
        {
            **each,
            "jump": (each["jump"] or {}).get("score"),
            "equal_to": list(dict.fromkeys(equal["other_team"] for equal in each["equal_outputs"])) or None,
        }
        for each in found
    ]
    return Answer({"teams": found}, columns(rows, (*names, "near_duplicates", "bits_released")))


def _board_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, text in (("score", "Address, as ud.las_f1."), ("part", "A part or track."), ("pick", "best, last, ...")):
        command = click.option(f"--{name}", help=text)(command)
    return click.option("--revision", type=click.IntRange(1), help="Of gold; the active one unless given.")(command)


def _add_board_command(name: str, operation: str, forms: Sequence[str], text: str) -> None:
    """Add a command that prints a board in one of these forms."""

    def rendered(client: Client, benchmark: str, form: str, **which: Any) -> str:
        asked = {"format": form, **{name: value for name, value in which.items() if value is not None}}
        return client.call(operation, {"benchmark": benchmark}, query=asked, headers={"Accept": "*/*"}).text

    rendered.__doc__ = text
    option = click.option("--format", "form", type=click.Choice(forms), default=forms[0], show_default=True)
    asks(organise, name)(click.argument("benchmark")(option(_board_options(rendered))))


_add_board_command("board", "get_leaderboard", BOARDS, "Print the board of BENCHMARK.")
_add_board_command("matrix", "get_matrix", BOARDS, "Print the score of every team in every part.")
_add_board_command("scores", "list_scores", SCORES, "Print every score of every team and part.")


@asks(organise, "submissions")
@click.argument("benchmark")
@click.option("--team", help="Only those of this one.")
@click.option("--state", help="Only those in this one: queued, running, succeeded, failed, cancelled.")
def submissions(client: Client, benchmark: str, team: str | None, state: str | None) -> Answer:
    """List the submissions to BENCHMARK, newest first."""
    found = list(client.benchmark(benchmark).submissions(team=team, state=state))
    return listed("submissions", found, ("id", "team", "name", "state", "created_at", "withdrawn_at"))


@asks(organise, "withdraw")
@click.argument("submission")
@click.option("--reason", help="Why; its team reads it.")
@click.option("--undo", is_flag=True, help="Put it back on the board.")
def withdraw(client: Client, submission: str, reason: str | None, *, undo: bool) -> Answer:
    """Take SUBMISSION off the board."""
    made = client.submission(submission).withdraw(withdrawn=not undo, reason=reason)
    return Answer(made.document, [f"{made['id']}  {'on the board' if undo else 'withdrawn'}"])


@click.group()
def tokens() -> None:
    """Say who may what."""


@asks(tokens, "list")
def list_tokens(client: Client) -> Answer:
    """List tokens; their secrets cannot be shown."""
    names = ("id", "name", "scopes", "benchmark", "team", "expires_at", "last_used_at", "revoked_at")
    return listed("tokens", list(client.tokens.list()), names)


@asks(tokens, "add")
@click.argument("scopes", nargs=-1, required=True)
@click.option("--name", help="What it is for.")
@click.option("--benchmark", help="The one that it organises, with the scope organise alone; all unless given.")
@click.option("--until", type=EndTime(), help="Time in UTC when it ends, of a date its end; never unless given.")
def add_token(client: Client, until: datetime | None, **given: Any) -> Answer:
    """Make a token with SCOPES.

    Prints it, once: submit, score, read, organise.
    """
    members = {name: value for name, value in given.items() if value is not None}
    if until is not None:
        members["expires_at"] = until.isoformat()
    made = orjson.loads(client.call("create_token", json=members).body)
    return Answer(made, [f"{made['id']}  {made['token']}"])


def _add_plain_command(group: click.Group, name: str, operation: str, text: str) -> None:
    """Add a command whose arguments are those of the operation's path, and which prints the answer as JSON."""
    places = re.findall(r"{(\w+)}", OPERATIONS[operation].path)

    def done(client: Client, **given: str) -> Answer:
        body = client.call(operation, given).body
        document = orjson.loads(body) if body else given
        lines = orjson.dumps(document, option=orjson.OPT_INDENT_2).decode().splitlines() if body else ["Done."]
        return Answer(document, lines)

    done.__doc__ = text
    command: Callable[..., Answer] = done
    for place in reversed(places):
        command = click.argument(place)(command)
    asks(group, name)(command)


for _group, _name, _operation, _text in (
    (organise, "delete", "delete_benchmark", "Delete BENCHMARK, if it has no submissions."),
    (organise, "rotate", "rotate_token", "Replace the token of TEAM of BENCHMARK, and print the new one, once."),
    (organise, "erase", "erase_team", "Erase TEAM of BENCHMARK: name, outputs and tokens; its scores stay."),
    (organise, "submission", "get_submission", "Print SUBMISSION."),
    (organise, "cancel", "cancel_submission", "Cancel SUBMISSION, which waits or is being scored."),
    (organise, "retry", "retry_submission", "Score SUBMISSION again, which the service failed to score."),
    (organise, "remove", "delete_submission", "Delete SUBMISSION with its outputs and scores."),
    (tokens, "revoke", "revoke_token", "Let no one use a token any more."),
):
    _add_plain_command(_group, _name, _operation, _text)

organise.add_command(tokens)
organise.add_command(webhooks)
