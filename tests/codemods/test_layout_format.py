"""layout-format: above all, files in which Layout already is what it is today."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, unchanged

SELECT = {"select": "layout-format"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from jax.experimental.layout import Layout\nl = Layout((0, 1))\n", id="layout-of-today"),
        pytest.param(
            "from jax.experimental.layout import Format, Layout\nf = Format(Layout((1, 0)), s)\n", id="already-migrated"
        ),
        pytest.param("from textual import Layout\nl = Layout(device_local_layout=1)\n", id="another-library"),
        pytest.param("import jax\nclass DeviceLocalLayout: pass\nl = DeviceLocalLayout()\n", id="own-class"),
        pytest.param("import jax\nd.device_local_layout = 3\n", id="own-attribute"),
        pytest.param("import jax\nprint({'input_layouts': 1})\n", id="string"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


def test_an_older_target_has_the_old_names() -> None:
    source = "from jax.experimental.layout import DeviceLocalLayout\nd = DeviceLocalLayout((0, 1))\n"
    unchanged(source, findings=["choose by version"], target="0.6.2", **SELECT)


def test_names_are_exchanged_at_once() -> None:
    rewritten(
        """
        from jax.experimental import layout
        from jax.experimental.layout import DeviceLocalLayout, Layout as L
        a: L = L(DeviceLocalLayout.AUTO, s)
        b = layout.Layout(layout.DeviceLocalLayout((0, 1)))
        c = a.device_local_layout
        """,
        """
        from jax.experimental import layout
        from jax.experimental.layout import Layout as L
        a: layout.Format = layout.Format(L.AUTO, s)
        b = layout.Format(L((0, 1)))
        c = a.layout
        """,
        **SELECT,
    )


def test_fields_keywords_and_arrays_of_an_old_file() -> None:
    rewritten(
        """
        from jax.experimental.layout import DeviceLocalLayout as DLL, Format
        f = Format(device_local_layout=DLL((1, 0), _tiling=((8,),)), sharding=s)
        print(x.layout, x.layout.dll, f.device_local_layout)
        """,
        """
        from jax.experimental.layout import Format, Layout
        f = Format(layout=Layout((1, 0), tiling=((8,),)), sharding=s)
        print(x.format, x.format.layout, f.layout)
        """,
        **SELECT,
    )


def test_layouts_of_a_compiled_function() -> None:
    rewritten(
        "import jax\nc = jax.jit(f).lower(x).compile()\nprint(c.input_layouts(), c.output_layouts)\n",
        "import jax\nc = jax.jit(f).lower(x).compile()\nprint(c.input_formats, c.output_formats)\n",
        **SELECT,
    )


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\ndef call(args): return args.output_layouts\n", id="of-anything"),
        pytest.param(
            "import jax, re\np = re.compile('x')\ndef call(args): return args.output_layouts\n", id="regular-expression"
        ),
        pytest.param(
            "import jax\nclass W:\n    def __init__(self, s): self.output_layouts = s\n"
            "def call(args): return args.output_layouts, jax.jit(f).lower(x).compile()\n",
            id="of-a-class-here",
        ),
        pytest.param(
            "import jax\nclass W:\n    input_layouts: tuple = ()\nc = jax.jit(f).lower(x).compile()\nprint(w.input_layouts)\n",
            id="field-of-a-class-here",
        ),
    ],
)
def test_layouts_of_something_else(source: str) -> None:
    unchanged(source, **SELECT)


def test_what_is_called_compiled_is_taken_to_be_so() -> None:
    rewritten(
        "import jax\ndef show(compiled): return compiled.input_layouts\n",
        "import jax\ndef show(compiled): return compiled.input_formats\n",
        **SELECT,
    )
