-- What workers lack for the batches that they leave to others.

CREATE TABLE unfit (
    batch text NOT NULL REFERENCES batches ON DELETE CASCADE,
    holder text NOT NULL,
    why text NOT NULL,
    PRIMARY KEY (batch, holder)
);

-- How often a task's run was begun anew; sent again, a task goes on with the run that it had.
ALTER TABLE tasks ADD COLUMN anew integer NOT NULL DEFAULT 0;
UPDATE tasks SET anew = round WHERE round > 0;
