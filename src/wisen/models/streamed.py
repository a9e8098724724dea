"""Streams a response that is whole already, word by word, for models whose answers don't arrive in pieces.

It stands apart because models and wrappers share it, and none builds on another.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent, TextPart
from pydantic_ai.models import StreamedResponse

_WORDS = re.compile(r"\S+\s*|\s+")


@dataclass
class WholeResponse(StreamedResponse):
    """A finished `response`, told as a stream; its usage is that of the response."""

    response: ModelResponse

    def __post_init__(self) -> None:
        """Take over what is known of the response."""
        self._usage = self.response.usage
        self.finish_reason = self.response.finish_reason
        self.provider_details = self.response.provider_details
        self.provider_response_id = self.response.provider_response_id

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        for index, part in enumerate(self.response.parts):
            if isinstance(part, TextPart):
                for word in _WORDS.findall(part.content):
                    for event in self._parts_manager.handle_text_delta(vendor_part_id=index, content=word):
                        yield event
            else:
                yield self._parts_manager.handle_part(vendor_part_id=index, part=part)

    async def close_stream(self) -> None:
        """There is no connection to close."""

    @property
    def model_name(self) -> str:
        """The model that answered."""
        return self.response.model_name or ""

    @property
    def provider_name(self) -> str | None:
        """The provider that answered."""
        return self.response.provider_name

    @property
    def provider_url(self) -> str | None:
        """The provider's address."""
        return self.response.provider_url

    @property
    def timestamp(self) -> datetime:
        """When the response was made."""
        return self.response.timestamp
