import jax.numpy as jnp

angles = jnp.array([0.0, 90.0, 180.0])
turned = jnp.deg2rad(angles)  # comments stay
print(turned)
assert jnp.allclose(turned / jnp.pi, jnp.array([0.0, 0.5, 1.0]))
