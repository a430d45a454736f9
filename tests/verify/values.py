"""Values as the recorder describes them, made of NumPy arrays."""

import base64
import hashlib
from typing import Any

import numpy as np

X = np.arange(16.0, dtype=np.float32).reshape(8, 2)

LIMIT = 1024


def digest(data: Any) -> dict[str, Any]:
    """As the recorder describes data."""
    flat = np.ascontiguousarray(data).reshape(-1)
    whole = flat.size <= LIMIT
    kept = flat if whole else flat[np.linspace(0, flat.size - 1, LIMIT).astype(int)]
    return {
        "h": hashlib.sha1(flat.tobytes()).hexdigest(),
        "n": int(flat.size),
        "dtype": str(flat.dtype),
        "all": whole,
        "b": base64.b64encode(kept.tobytes()).decode(),
    }


def array(data: Any, split: int = 1, axis: int = 0, devices: list[int] | None = None, **fields: Any) -> dict[str, Any]:
    """An array cut into `split` blocks along an axis, on as many devices."""
    data = np.asarray(data)
    ids = devices or list(range(split))
    size = data.shape[axis] // split if data.ndim else 1
    shards = []
    for block, device in enumerate(ids):
        index = [[0, n] for n in data.shape]
        if split > 1:
            index[axis] = [block * size, (block + 1) * size]
        piece = data[tuple(slice(a, b) for a, b in index)]
        replica = 0 if split > 1 else block
        shards.append({"d": device, "p": 0, "i": index, "r": replica, "v": digest(piece)})
    value = {
        "k": "array",
        "type": "ArrayImpl",
        "shape": list(data.shape),
        "dtype": str(data.dtype),
        "weak": False,
        "committed": True,
        "addressable": True,
        "replicated": split == 1,
        "shards": shards,
        "v": digest(data),
        "local": None,
    }
    return value | fields


def ndarray(data: Any) -> dict[str, Any]:
    data = np.asarray(data)
    return {"k": "ndarray", "shape": list(data.shape), "dtype": str(data.dtype), "v": digest(data)}


def scalar(value: Any) -> dict[str, Any]:
    if value is None:
        return {"k": "scalar", "t": "none", "v": None}
    kind = type(value).__name__
    return {"k": "scalar", "t": kind, "v": repr(value) if kind == "float" else value}


def seq(*items: Any, t: str = "list") -> dict[str, Any]:
    return {"k": "seq", "t": t, "n": len(items), "v": list(items)}


def spec(*dims: Any) -> dict[str, Any]:
    return {"k": "spec", "v": list(dims)}


def opaque(name: str, t: str = "function") -> dict[str, Any]:
    return {"k": "opaque", "t": t, "v": name}


def abstract(*shape: int) -> dict[str, Any]:
    return {"k": "abstract", "shape": list(shape), "dtype": "float32", "weak": False, "spec": None}
