-- The keys of situations with dates, times of day and versions are others, and so are words with vowel signs.

-- All cards are about to be written, which indexes of single tenants would make slow; `wisen store tune` makes them again.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid
        WHERE indrelid = 'cards'::regclass AND relname LIKE 'cards\_near\_%'
    LOOP
        EXECUTE format('DROP INDEX %I', name);
    END LOOP;
END
$$;
DELETE FROM tuned;
