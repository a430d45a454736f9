"""Where old JAX lives besides plain Python files."""
