"""Device_put_sharded and device_put_replicated become device_put with a sharding.

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from jaxmigrate.codemod import Codemod

codemod = Codemod(
    "device-put-sharded",
    summary="device_put_sharded and device_put_replicated become device_put with a sharding",
    since="0.4.0",
    deprecated="0.8.1",
    removed="0.10.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
)
