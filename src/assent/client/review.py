"""Reviews of documents from Python, as functions that take a client; they are its method `review`, too."""

from __future__ import annotations

from assent.client.async_client import awaiting
from assent.client.client import blocking
from assent.client.gate import named
from assent.client.reviewing import review_document

__all__ = ["review", "review_async"]

review = named(blocking(review_document), "review")
review_async = named(awaiting(review_document), "review_async")
