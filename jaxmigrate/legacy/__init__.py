"""Old JAX (0.3 to 0.4.6) emulated on the installed JAX: what an original program runs on (DESIGN section 6)."""
