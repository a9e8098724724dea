-- How many tasks are where is asked often, and the tasks' own rows are long.
CREATE INDEX tasks_counted ON tasks (batch, state);

-- Batches that are gone, and of which DBOS may still have something: what is left when a deletion is broken off.

CREATE TABLE deletions (
    batch text PRIMARY KEY,
    tasks integer NOT NULL,
    rounds integer NOT NULL
);
