"""Why a person decided, as it may be kept: a reason outlives the card's text, so it holds no secret of it."""

from wisen.errors import ConfigError
from wisen.screening.cleaning import cleaned
from wisen.screening.redaction import DETECTORS, without_placeholders


def kept_reason(why: str) -> str:
    """The reason without secrets, personal data and hidden characters.

    Raises `ConfigError` where nothing but these is in it; an empty one stays empty.
    """
    kept = cleaned([why], DETECTORS)[0][0]
    if kept != why and not any(map(str.isalnum, without_placeholders(kept))):
        raise ConfigError("the reason says nothing but what may not be kept; say why in other words")
    return kept
