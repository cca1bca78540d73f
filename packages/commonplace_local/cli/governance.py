"""Create an organisation from a file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from commonplace_local.deployment import Deployment
from commonplace_local.errors import CommandError
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import commands, counted, show

if TYPE_CHECKING:
    from commonplace.governance.founding import Plan
    from commonplace.governance.governance import Governance

app = commands("Create an organisation from a file.")


@app.callback()
def governance() -> None:
    """Create an organisation from a file."""


@app.command("import")
@grouped
def found(
    file: Annotated[Path, typer.Argument(help="A YAML file; docs/agents/governance.md describes it.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the file and print the plan; write nothing.")] = (
        False
    ),
    target: Target,
) -> None:
    """Create the organisation that a file describes, and print its invitation links."""
    from commonplace.governance.founding import founding

    deployment = target.find()
    if dry_run:
        plan = founding(read_text(file), organisations_of(deployment))
        typer.echo("\n".join(map(str, plan.steps)))
    else:
        plan, links = found_from(deployment, file)
        show(({"member": name, "link": link} for name, link in links.items()), nothing="Everybody has an account.")
    people, steps = counted(len(plan.file.members), "member", "members"), counted(len(plan.steps), "step", "steps")
    end = "Nothing was written." if dry_run else "It is founded."
    typer.echo(f"{plan.file.organisation.slug}: {people}, {steps}. {end}", err=True)


def found_from(deployment: Deployment, file: Path) -> tuple["Plan", dict[str, str]]:
    """Found the organisation of a file; return its plan, and the links of its invitations by the names of members.

    Raises InvalidInput with every fault of the file, Conflict for an organisation that exists.
    """
    from commonplace.governance.founding import carry_out, founding
    from commonplace.identity.access_tokens import subject_hash
    from commonplace.identity.roles import ADDRESS
    from commonplace_local.identity import Identity

    key = Identity(deployment).key

    def pseudonym(subject: str) -> str:
        if ADDRESS.fullmatch(subject):
            from commonplace.identity.wallets import checksummed

            subject = checksummed(subject)  # as accounts have it (EIP-55)
        return subject_hash(key, subject)

    plan = founding(read_text(file), organisations := organisations_of(deployment))
    place, people = f"{deployment.base_url}/console/governance/{plan.file.organisation.slug}/join", plan.file.members
    secrets = carry_out(plan, organisations, pseudonym)
    named = {key: f"{people[key].firstname} {people[key].surname}".strip() for key in secrets}
    return plan, {f"{named[key]} ({key})": f"{place}?{urlencode({'invitation': one})}" for key, one in secrets.items()}


def read_text(file: Path) -> str:
    """Return the text of a file. Raises CommandError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {error}", "Name a YAML file.") from error


def organisations_of(deployment: Deployment) -> "Governance":
    """Return the organisations of a deployment. Raises CommandError where it has no governance."""
    from commonplace.governance.composition import reserved
    from commonplace.governance.governance import Governance
    from commonplace.governance.settings import GovernanceSettings
    from commonplace.governance.store import Store

    if given := deployment.outputs.get("ConsoleVariables"):
        environ = json.loads(given)
    else:
        name = deployment.outputs["ConsoleFunction"]
        found = deployment.client("lambda").get_function_configuration(FunctionName=name)
        environ = found.get("Environment", {}).get("Variables", {})
    settings = GovernanceSettings.where_governed(environ)
    if settings is None:
        raise CommandError("Governance is disabled here.", "To enable it, see docs/agents/governance.md.")
    store = Store(deployment.client("dynamodb"), settings.records_table, settings.activity_table)
    return Governance(store=store, reserved=reserved(environ), founded=settings.founded_per_account)
