"""What a run keeps in the store between its steps, whatever it syncs."""

import json
from collections.abc import Sequence

from commonplace.kernel.objects import ObjectStore
from commonplace.kernel.parallel import Parallel
from commonplace.repository.blobs import BlobSha
from commonplace.repository.outcomes import Batch, Verdicts, merge
from commonplace.repository.plan import Plan, items_key, map_items, outcome_key, outcomes_prefix, plan_key


class RunLedger:
    """Plans, items and outcomes of runs, each under the run's name."""

    def __init__(self, objects: ObjectStore, parallel: Parallel) -> None:
        self.objects = objects
        self.parallel = parallel

    def plan(self, run: str) -> Plan:
        """Raises LookupError for a run that has not planned."""
        found = self.objects.get(plan_key(run))
        if found is None:
            raise LookupError(f"run {run} has no plan")
        return Plan.model_validate_json(found.body)

    def put_plan(self, run: str, plan: Plan) -> None:
        self.objects.put(plan_key(run), plan.to_json())

    def put_items(self, run: str, needed: Sequence[BlobSha]) -> tuple[str, int]:
        """The Map's input; returns its key and length."""
        key, items = items_key(run), map_items(list(needed))
        self.objects.put(key, json.dumps(items).encode())
        return key, len(items)

    def put_batch(self, run: str, name: str, batch: Batch) -> None:
        self.objects.put(outcome_key(run, name), batch.to_json())

    def add_outcomes(self, run: str, verdicts: Verdicts) -> int:
        """Adds what the run's steps found; returns how often they asked GitHub."""
        calls = 0
        names = [item.key for item in self.objects.list(outcomes_prefix(run))]
        for found in self.parallel.map(self.objects.get, names):
            if found:
                batch = Batch.model_validate_json(found.body)
                merge(verdicts, batch.outcomes)
                calls += batch.github_calls
        return calls
