-- What wisen knows of batches, their tasks and the workers; the dispatching itself is in the schema wisen_dbos.

CREATE TABLE batches (
    id text PRIMARY KEY,
    queue text NOT NULL,
    options text NOT NULL,
    most_tries integer NOT NULL,
    tasks integer NOT NULL,
    fingerprint text NOT NULL,
    enqueued boolean NOT NULL DEFAULT false,
    submitted timestamptz NOT NULL DEFAULT now(),
    cancelled timestamptz
);

CREATE INDEX batches_by_time ON batches (submitted, id);

CREATE TABLE tasks (
    batch text NOT NULL REFERENCES batches ON DELETE CASCADE,
    place integer NOT NULL,
    rank bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    queue text NOT NULL,
    body text NOT NULL,
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'dead', 'cancelled')),
    round integer NOT NULL DEFAULT 0,
    tries integer NOT NULL DEFAULT 0,
    deaths integer NOT NULL DEFAULT 0,
    reason text NOT NULL DEFAULT '',
    holder text,
    outcome text,
    started timestamptz,
    ended timestamptz,
    PRIMARY KEY (batch, place)
);

CREATE INDEX tasks_waiting ON tasks (queue) WHERE state = 'waiting';
CREATE INDEX tasks_held ON tasks (holder) WHERE state = 'running';
CREATE INDEX tasks_dead ON tasks (queue) WHERE state = 'dead';

CREATE TABLE workers (
    queue text NOT NULL,
    id text NOT NULL,
    epoch bigint NOT NULL,
    host text NOT NULL,
    takeover double precision NOT NULL,
    started timestamptz NOT NULL DEFAULT now(),
    beat timestamptz NOT NULL DEFAULT now(),
    ended timestamptz,
    why text NOT NULL DEFAULT '',
    PRIMARY KEY (queue, id)
);

CREATE TABLE rates (
    queue text NOT NULL,
    provider text NOT NULL,
    free timestamptz NOT NULL,
    PRIMARY KEY (queue, provider)
);
