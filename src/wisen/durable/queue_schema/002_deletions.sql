-- Batches that are gone, and of which DBOS may still have something: what is left when a deletion is broken off.

CREATE TABLE deletions (
    batch text PRIMARY KEY,
    tasks integer NOT NULL,
    rounds integer NOT NULL
);
