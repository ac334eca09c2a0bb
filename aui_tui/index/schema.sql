-- One row per host: the summary columns of its latest card. Times are milliseconds since the epoch.
CREATE TABLE site (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    ranked INTEGER NOT NULL,
    category INTEGER NOT NULL,
    stance INTEGER NOT NULL,
    score INTEGER NOT NULL,
    bits INTEGER NOT NULL,
    edge INTEGER NOT NULL,
    at INTEGER NOT NULL,
    change INTEGER,
    scans INTEGER NOT NULL
);
-- The order of the lists, with every column that a filter reads.
CREATE INDEX site_rank ON site (ranked, score DESC, host, name, category, stance, bits, edge, at);
CREATE INDEX site_at ON site (at);

-- What a list shows of a host beyond the summary columns.
CREATE TABLE line (
    id INTEGER PRIMARY KEY,
    line BLOB NOT NULL
);

-- One row per kept scan. Without a card it is a summary that another index published. Where tasks were run, plain is
-- the score without them: scores of scans with and without tasks compare by it.
CREATE TABLE scan (
    id INTEGER PRIMARY KEY,
    site INTEGER NOT NULL,
    at INTEGER NOT NULL,
    score INTEGER NOT NULL,
    grade TEXT NOT NULL,
    stance INTEGER NOT NULL,
    unreachable INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    method TEXT NOT NULL,
    card BLOB,
    observations BLOB,
    plain INTEGER,
    UNIQUE (site, at)
);

-- The distinct values of the cards' edge field, case folded.
CREATE TABLE edge (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);

-- Hosts per list, category, stance and score.
CREATE TABLE tally (
    ranked INTEGER NOT NULL,
    category INTEGER NOT NULL,
    stance INTEGER NOT NULL,
    score INTEGER NOT NULL,
    hosts INTEGER NOT NULL,
    PRIMARY KEY (ranked, category, stance, score)
) WITHOUT ROWID;

CREATE TRIGGER tally_insert AFTER INSERT ON site BEGIN
    INSERT INTO tally VALUES (new.ranked, new.category, new.stance, new.score, 1)
    ON CONFLICT DO UPDATE SET hosts = hosts + 1;
END;
CREATE TRIGGER tally_delete AFTER DELETE ON site BEGIN
    UPDATE tally SET hosts = hosts - 1
    WHERE (ranked, category, stance, score) = (old.ranked, old.category, old.stance, old.score);
END;
CREATE TRIGGER tally_update AFTER UPDATE OF ranked, category, stance, score ON site
WHEN (new.ranked, new.category, new.stance, new.score) <> (old.ranked, old.category, old.stance, old.score) BEGIN
    UPDATE tally SET hosts = hosts - 1
    WHERE (ranked, category, stance, score) = (old.ranked, old.category, old.stance, old.score);
    INSERT INTO tally VALUES (new.ranked, new.category, new.stance, new.score, 1)
    ON CONFLICT DO UPDATE SET hosts = hosts + 1;
END;

-- For each tag of tags.py the hosts that have it: site ids in chunks of 32,768, as in bitmaps.py.
CREATE TABLE bitmap (
    tag INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    bits BLOB NOT NULL,
    PRIMARY KEY (tag, chunk)
) WITHOUT ROWID;

-- Substrings of host and name. Written by the program: a trigger may not touch a virtual table of an untrusted schema.
CREATE VIRTUAL TABLE site_text USING fts5 (hay, content = '', columnsize = 0, tokenize = 'trigram case_sensitive 1');

-- What the access logs of a site said last, as JSON. A host need not be scanned to have one.
CREATE TABLE visits (
    host TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    record BLOB NOT NULL
) WITHOUT ROWID;

-- One row: how many transactions have changed the index.
CREATE TABLE meta (
    changes INTEGER NOT NULL
);
INSERT INTO meta VALUES (0);
