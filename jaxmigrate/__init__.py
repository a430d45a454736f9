"""Move JAX code from the old array world to the JAX its user targets."""

__version__ = "0.1.0"
