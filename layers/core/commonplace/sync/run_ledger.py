"""What a run keeps in the store between its steps, whatever it syncs."""

import json
from collections.abc import Sequence

from commonplace.content.document import BlobSha
from commonplace.kernel.objects import ObjectStore
from commonplace.sync import keys
from commonplace.sync.outcomes import Batch, Verdicts, merge
from commonplace.sync.parallel import Parallel
from commonplace.sync.planning import Plan, map_items


class RunLedger:
    """Plans, items and outcomes of runs, each under the run's name."""

    def __init__(self, objects: ObjectStore, parallel: Parallel) -> None:
        self.objects = objects
        self.parallel = parallel

    def plan(self, run: str) -> Plan:
        """Raises LookupError for a run that has not planned."""
        found = self.objects.get(keys.plan_key(run))
        if found is None:
            raise LookupError(f"run {run} has no plan")
        return Plan.model_validate_json(found.body)

    def put_plan(self, run: str, plan: Plan) -> None:
        self.objects.put(keys.plan_key(run), plan.to_json())

    def put_items(self, run: str, needed: Sequence[BlobSha]) -> tuple[str, int]:
        """The Map's input; returns its key and length."""
        key, items = keys.items_key(run), map_items(list(needed))
        self.objects.put(key, json.dumps(items).encode())
        return key, len(items)

    def put_batch(self, run: str, name: str, batch: Batch) -> None:
        self.objects.put(keys.outcome_key(run, name), batch.to_json())

    def add_outcomes(self, run: str, verdicts: Verdicts) -> int:
        """Adds what the run's steps found; returns how often they asked GitHub."""
        calls = 0
        names = [item.key for item in self.objects.list(keys.outcomes_prefix(run))]
        for found in self.parallel.map(self.objects.get, names):
            if found:
                batch = Batch.model_validate_json(found.body)
                merge(verdicts, batch.outcomes)
                calls += batch.github_calls
        return calls
