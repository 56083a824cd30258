"""A real PostgreSQL inside `horae up`: from a wheel, the same engine as everywhere else."""

from horae.store.embedded.cluster import Cluster
from horae.store.embedded.folders import default_data_dir

__all__ = ["Cluster", "default_data_dir"]
