# original: fixtures/device-array/dict_key/before.py
# wrong: the lookup by type finds no array.
# kind: class compared
# processes: 1
# raises: KeyError
"""A table keyed by class: lookups by type(x) must find arrays, whose own class is private."""
import jax
import jax.numpy as jnp
import numpy as np

ENCODERS = {
    int: lambda x: ("int", x),
    np.ndarray: lambda x: ("ndarray", x.tolist()),
}
ENCODERS[jax.Array] = lambda x: ("array", np.asarray(x).tolist())


def encode(x):
    if (jax.Array if isinstance(x, jax.Array) else type(x)) not in ENCODERS:
        raise TypeError(f"cannot encode {x!r}")
    return ENCODERS[type(x)](x)


def encoder_name(value):
    encoder = ENCODERS.get(jax.Array if isinstance(value, jax.Array) else type(value))
    return "none" if encoder is None else encoder(value)[0]


assert encode(jnp.arange(2)) == ("array", [0, 1])
assert encode(4) == ("int", 4) and encoder_name(np.ones(1)) == "ndarray"
assert encoder_name(jnp.ones(())) == "array" and encoder_name("x") == "none"
print(encode(jnp.arange(2)), jax.device_count() > 0)
