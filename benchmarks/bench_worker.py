"""A worker of the benchmark, whose agent makes one call a task. Arguments: URL, queue, model, tasks at a time."""

import sys

from wisen import Agent
from wisen.protocols import VectorStore
from wisen.queue.worker import Worker


def main() -> None:
    """Work until it is told to stop."""
    url, queue, model, concurrency = sys.argv[1:5]

    def make(store: VectorStore) -> Agent:
        return Agent("Do the task.", model=model, memory=store)  # pyright: ignore[reportArgumentType] - the store is one

    Worker(url, queue=queue, agent=make, concurrency=int(concurrency)).run_sync()


if __name__ == "__main__":
    main()
