"""Secrets of tasks that run without a server: given by the test, else taken from the environment."""

import os
from collections.abc import Mapping

from horae.client.outcomes import NoSecret
from horae.model.task import TaskDefinition


def local_secrets(task: TaskDefinition, given: Mapping[str, str]) -> dict[str, str]:
    known = dict(os.environ) | dict(given)
    names = [use.name for use in task.secrets or ()]
    if missing := [name for name in names if name not in known]:
        raise NoSecret(f"no secret {missing[0]}: give it with inline(app, secrets={{…}}), or in the environment")
    return {name: known[name] for name in names}
