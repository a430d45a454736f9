"""Move Python code written for any JAX since 0.2 to the JAX its user targets."""

__version__ = "0.1.0"
