"""The SQLite store's tables, as numbered migrations in plain SQL; a database's `user_version` counts those it has had.

A released migration is never changed: a later one follows it. If the rule changes by which keys and words follow from a
card, `KEYED_SINCE` rises with a migration, and `upgrade` computes them again.
"""

APPLICATION_ID = 0x7769736E
"""Marks a file as a wisen store: "wisn"."""

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE state (
        only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
        generation INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        embedder TEXT NOT NULL
    );
    INSERT INTO state VALUES (1, 0, 0, '');

    CREATE TABLE cards (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        status TEXT NOT NULL,
        kind TEXT NOT NULL,
        run_id TEXT NOT NULL,
        scope TEXT NOT NULL,
        situation_key INTEGER NOT NULL,
        duplicate_key TEXT NOT NULL,
        superseded_by TEXT NOT NULL,
        created INTEGER NOT NULL,
        version INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        card TEXT NOT NULL
    );
    CREATE INDEX cards_duplicate ON cards (duplicate_key);
    CREATE INDEX cards_created ON cards (tenant, created, id);
    CREATE INDEX cards_changed ON cards (tenant, changed);
    CREATE INDEX cards_run ON cards (run_id) WHERE run_id != '';

    CREATE TABLE recall (
        number INTEGER PRIMARY KEY REFERENCES cards (number) ON DELETE CASCADE,
        words BLOB NOT NULL,
        vectors BLOB NOT NULL
    );
    CREATE TABLE removed (
        tenant TEXT NOT NULL,
        changed INTEGER NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (tenant, changed, number)
    ) WITHOUT ROWID;

    CREATE TABLE blocks (
        tenant TEXT NOT NULL,
        name TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (tenant, name)
    ) WITHOUT ROWID;

    CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id TEXT NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        started INTEGER NOT NULL,
        record TEXT NOT NULL
    );
    CREATE INDEX runs_started ON runs (started);
    CREATE INDEX runs_tenant ON runs (tenant, started);

    CREATE TABLE calls (
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        response BLOB NOT NULL,
        PRIMARY KEY (scope, key, ordinal)
    );
    """,
    """
    CREATE INDEX cards_refused ON cards (json_extract(card, '$.refused')) WHERE status = 'rejected';
    """,
    """
    ALTER TABLE cards ADD COLUMN content_key INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE cards ADD COLUMN alike INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE cards ADD COLUMN idea TEXT NOT NULL DEFAULT '';
    CREATE INDEX cards_idea ON cards (idea) WHERE idea != '';
    CREATE INDEX cards_alike ON cards (alike) WHERE alike > 0;
    """,
    """
    ALTER TABLE cards ADD COLUMN circle INTEGER NOT NULL DEFAULT 0;
    """,
    "-- The keys of situations with fractions, ratios and digits of other scripts are others.",
    "-- The keys of situations with dates, times of day and versions are others, and so are words with vowel signs.",
)

KEYED_SINCE = 6
"""The first version whose keys and words follow from the cards as they do now."""
