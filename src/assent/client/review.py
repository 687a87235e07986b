"""Reviews of documents from Python, as functions that take a client; they are its method `review`, too."""

from __future__ import annotations

from assent.client.async_client import awaiting
from assent.client.client import blocking
from assent.client.named import named
from assent.client.reviewing import is_review_over, review_document

__all__ = ["is_over", "review", "review_async"]

review = named(blocking(review_document), "review")
review_async = named(awaiting(review_document), "review_async")
is_over = named(blocking(is_review_over), "is_over")
