"""git-lock: leases on paths and named keys, so that agents and people can share one repository."""

__version__ = "0.1.0"
