"""Containers: tasks that are an image and a command, run by podman or docker, shut in as scripts are.

`finding` tells which engine works here and how; `confinement` and `profile` are its limits; `order` puts a task into
its words; `container` runs one and clears up after it; `runner` is what the agent knows.
"""

from horae.worker.containers.runner import ContainerRunner
from horae.worker.containers.settings import ContainerSettings

__all__ = ["ContainerRunner", "ContainerSettings"]
