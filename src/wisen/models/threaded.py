"""Lets pydantic-ai call plain tools and model functions in threads that hold up nobody where they hang.

It stands apart because it changes all of pydantic-ai for a while, not one model.
"""

from contextlib import AbstractContextManager

from pydantic_ai import Agent

from wisen.threads import THREADS


def using_threads() -> AbstractContextManager[None]:
    """Within it, what pydantic-ai calls in a thread is called in one of wisen's."""
    return Agent.using_thread_executor(THREADS)
