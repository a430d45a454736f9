# Metrics on their way to a log: device arrays are collected without waiting, fetched together, and written as plain numbers.
# processes: 1
# devices: 8
import time
from typing import Dict, List, NamedTuple, Optional, Union

import jax
import jax.numpy as jnp
import numpy as np
from jax.numpy import DeviceArray

Scalar = Union[float, DeviceArray]


class Record(NamedTuple):
    step: int
    metrics: Dict[str, DeviceArray]
    started: float = 0.0


class MetricLogger:
    def __init__(self, every: Optional[int] = None):
        self.every = every or 4
        self.pending: List[Record] = []
        self.lines: List[str] = []

    def log(self, step: int, **metrics: Scalar) -> None:
        for name, value in metrics.items():
            if isinstance(value, jnp.DeviceArray):
                value.copy_to_host_async()
        self.pending.append(Record(step, metrics, time.time()))
        if len(self.pending) == self.every:
            self.flush()

    def flush(self) -> None:
        for record in self.pending:
            numbers = {name: to_number(value) for name, value in sorted(record.metrics.items())}
            text = " ".join("%s=%.3f" % pair for pair in numbers.items())
            self.lines.append("step %d %s" % (record.step, text))
        self.pending = []


def to_number(value: Scalar) -> float:
    if isinstance(value, DeviceArray):
        assert value.shape == (), value.shape
        return float(value.to_py())
    return float(value)


@jax.jit
def metrics(x: DeviceArray) -> Dict[str, DeviceArray]:
    return {"mean": x.mean(), "max": jnp.abs(x).max()}


logger = MetricLogger()
for step in range(6):
    x = jnp.linspace(-1.0, step, 5)
    logger.log(step, lr=0.1 / (step + 1), **metrics(x))
assert len(logger.pending) == 2 and len(logger.lines) == 4
logger.flush()
assert logger.lines[0] == "step 0 lr=0.100 max=1.000 mean=-0.500"
assert logger.lines[-1] == "step 5 lr=0.017 max=5.000 mean=2.000"
assert not isinstance(np.ones(3), DeviceArray) and isinstance(jnp.ones(3), DeviceArray)
print("\n".join(logger.lines))

place = jax.device_put(np.float32(1), jax.devices()[3])
assert place.device() == jax.devices()[3] and place.device_buffer.shape == ()
print("on", place.device().platform, place.device().id)
