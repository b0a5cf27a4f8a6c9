"""Where leases live. Every store keeps the obligations in ``gitlock.stores.protocol``."""
