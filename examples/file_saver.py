"""A checkpointer of LangGraph in one file, so that the examples need no more than LangGraph itself.

For real work take `langgraph-checkpoint-sqlite` or `langgraph-checkpoint-postgres`: this one writes everything anew at
every step.
"""

import threading
from pathlib import Path
from typing import Any

import msgspec
from langgraph.checkpoint.memory import InMemorySaver

__all__ = ["FileSaver"]


class FileSaver(InMemorySaver):
    """Keeps in a file what the one in memory keeps."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._lock = threading.Lock()
        if path.exists():
            self._load()

    def put(self, *args: Any, **kwargs: Any) -> Any:
        """Keep a checkpoint."""
        kept = super().put(*args, **kwargs)
        self._save()
        return kept

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        """Keep what a node wrote or waits for."""
        super().put_writes(*args, **kwargs)
        self._save()

    def _save(self) -> None:
        with self._lock:  # LangGraph writes from several threads
            self._write()

    def _write(self) -> None:
        checkpoints = [
            (thread, namespace, checkpoint_id, *kept)
            for thread, namespaces in list(self.storage.items())
            for namespace, found in list(namespaces.items())
            for checkpoint_id, kept in list(found.items())
        ]
        writes = [
            (*place, *number, *write)
            for place, found in list(self.writes.items())
            for number, write in list(found.items())
        ]
        blobs = [(*place, *blob) for place, blob in list(self.blobs.items())]
        fresh = self._path.with_suffix(".new")
        fresh.write_bytes(msgspec.msgpack.encode((checkpoints, writes, blobs)))
        fresh.replace(self._path)  # in one step: a kill leaves the old file or the new one

    def _load(self) -> None:
        checkpoints, writes, blobs = msgspec.msgpack.decode(self._path.read_bytes())
        for thread, namespace, checkpoint_id, checkpoint, metadata, parent in checkpoints:
            self.storage[thread][namespace][checkpoint_id] = (tuple(checkpoint), tuple(metadata), parent)
        for *place, task_id, number, again, channel, value, path in writes:
            self.writes[tuple(place)][task_id, number] = (again, channel, tuple(value), path)
        for *place, kind, content in blobs:
            self.blobs[tuple(place)] = (kind, content)
