-- One row per host: what its latest card says, in plain columns. Times are milliseconds since the epoch; a column with
-- several words has commas around each of them; live are the statuses of the live-probed agents, as JSON.
CREATE TABLE site (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    folded TEXT NOT NULL,           -- the name with its case folded
    ranked INTEGER NOT NULL,        -- 0: unreachable
    category TEXT NOT NULL,
    stance TEXT NOT NULL,
    score INTEGER NOT NULL,
    grade TEXT NOT NULL,
    method TEXT NOT NULL,
    at INTEGER NOT NULL,
    change INTEGER,                 -- of the score since the scan before
    scans INTEGER NOT NULL,
    tasks INTEGER NOT NULL,         -- 1: tasks were run
    edge TEXT NOT NULL,
    server TEXT NOT NULL,           -- the Server field with its case folded
    has TEXT NOT NULL,
    fixes TEXT NOT NULL,
    contradictions TEXT NOT NULL,
    crawlers TEXT NOT NULL,         -- as in ',*=read,GPTBot=blocked,' and ',open.smolagents=in,'
    chatgpt_agent TEXT NOT NULL,    -- verdicts of the record
    chatgpt TEXT NOT NULL,
    claude TEXT NOT NULL,
    gemini TEXT NOT NULL,
    perplexity TEXT NOT NULL,
    amazon TEXT NOT NULL,
    meta_ai TEXT NOT NULL,
    browser_agents TEXT NOT NULL,
    words TEXT NOT NULL,            -- what each assistant gets, one letter each (vocabulary.FATES)
    measured INTEGER NOT NULL,      -- points of 100 that the scan measured, 0: not known
    matrix TEXT NOT NULL,           -- as JSON where its keys or words are not ours, else empty
    pillars TEXT NOT NULL,          -- as JSON
    top_evidence TEXT NOT NULL,
    url TEXT NOT NULL,
    best_fix TEXT NOT NULL,
    best_points INTEGER NOT NULL,
    live TEXT NOT NULL
);
-- The order of the lists, with the columns that filters read.
CREATE INDEX site_list ON site (
    ranked, score DESC, host, folded, category, stance, grade, method, at, change, tasks, has, fixes, contradictions,
    chatgpt_agent, chatgpt, claude, gemini, perplexity, amazon, meta_ai, browser_agents, edge, server, crawlers, words
);
-- Hosts without a grade, which have no rank.
CREATE INDEX site_thin ON site (score) WHERE grade = '–' AND ranked = 1;
-- The newest card.
CREATE INDEX site_at ON site (at);
-- The orders by name and by change.
CREATE INDEX site_name ON site (folded);
CREATE INDEX site_change ON site (change DESC, score DESC, host) WHERE change IS NOT NULL;

-- Hosts per list, stance and score, by category and by what each assistant gets; a row has hosts.
CREATE TABLE tally (
    ranked INTEGER NOT NULL,
    category TEXT NOT NULL,
    stance TEXT NOT NULL,
    score INTEGER NOT NULL,
    hosts INTEGER NOT NULL,
    PRIMARY KEY (ranked, category, stance, score)
) WITHOUT ROWID;
CREATE TABLE tally_words (
    ranked INTEGER NOT NULL,
    stance TEXT NOT NULL,
    words TEXT NOT NULL,
    score INTEGER NOT NULL,
    hosts INTEGER NOT NULL,
    PRIMARY KEY (ranked, stance, words, score)
) WITHOUT ROWID;
CREATE TRIGGER tally_insert AFTER INSERT ON site BEGIN
    INSERT INTO tally VALUES (new.ranked, new.category, new.stance, new.score, 1)
    ON CONFLICT DO UPDATE SET hosts = hosts + 1;
    INSERT INTO tally_words VALUES (new.ranked, new.stance, new.words, new.score, 1)
    ON CONFLICT DO UPDATE SET hosts = hosts + 1;
END;
CREATE TRIGGER tally_delete AFTER DELETE ON site BEGIN
    UPDATE tally SET hosts = hosts - 1
    WHERE (ranked, category, stance, score) = (old.ranked, old.category, old.stance, old.score);
    DELETE FROM tally
    WHERE (ranked, category, stance, score) = (old.ranked, old.category, old.stance, old.score) AND hosts = 0;
    UPDATE tally_words SET hosts = hosts - 1
    WHERE (ranked, stance, words, score) = (old.ranked, old.stance, old.words, old.score);
    DELETE FROM tally_words
    WHERE (ranked, stance, words, score) = (old.ranked, old.stance, old.words, old.score) AND hosts = 0;
END;
CREATE TRIGGER tally_update AFTER UPDATE OF ranked, category, stance, score, words ON site
WHEN (old.ranked, old.category, old.stance, old.score, old.words)
<> (new.ranked, new.category, new.stance, new.score, new.words) BEGIN
    INSERT INTO tally VALUES (new.ranked, new.category, new.stance, new.score, 1)
    ON CONFLICT DO UPDATE SET hosts = hosts + 1;
    UPDATE tally SET hosts = hosts - 1
    WHERE (ranked, category, stance, score) = (old.ranked, old.category, old.stance, old.score);
    DELETE FROM tally
    WHERE (ranked, category, stance, score) = (old.ranked, old.category, old.stance, old.score) AND hosts = 0;
    INSERT INTO tally_words VALUES (new.ranked, new.stance, new.words, new.score, 1)
    ON CONFLICT DO UPDATE SET hosts = hosts + 1;
    UPDATE tally_words SET hosts = hosts - 1
    WHERE (ranked, stance, words, score) = (old.ranked, old.stance, old.words, old.score);
    DELETE FROM tally_words
    WHERE (ranked, stance, words, score) = (old.ranked, old.stance, old.words, old.score) AND hosts = 0;
END;

-- Substrings of host and name. Written by the program: a trigger may not touch a virtual table of an untrusted schema.
CREATE VIRTUAL TABLE site_text USING fts5 (hay, content = '', columnsize = 0, tokenize = 'trigram case_sensitive 1');

-- One row per kept scan. Without a card it is a summary that another index published. Where tasks were run, plain is
-- the score without them: scores of scans with and without tasks compare by it. The card of a host is that of a scan
-- with the least aside: 0 by its default route, 1 by another one of the local user's, 2 by a visitor's.
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
    aside INTEGER NOT NULL DEFAULT 0,
    UNIQUE (site, at)
);

-- What the access logs of a site said last, as JSON. A host need not be scanned to have one.
CREATE TABLE visits (
    host TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    record BLOB NOT NULL
) WITHOUT ROWID;

-- One row: how many transactions have changed the index, when the last one did, the revision of the method under which
-- its scans are graded, and the id below which they still have to be.
CREATE TABLE meta (
    changes INTEGER NOT NULL,
    at INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0,
    ungraded INTEGER NOT NULL DEFAULT 0
);
INSERT INTO meta (changes) VALUES (0);

-- For programs that only read: an unreachable host has no score, grade, stance or verdict.
CREATE VIEW hosts AS SELECT host, CASE ranked WHEN 1 THEN 'ranked' ELSE 'unreachable' END AS list, category,
    CASE WHEN ranked THEN score END AS score, CASE WHEN ranked THEN grade END AS grade,
    CASE WHEN ranked THEN stance END AS stance, method,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1e3, 'unixepoch') AS scanned_at, change, scans FROM site;
CREATE VIEW history AS SELECT host, strftime('%Y-%m-%dT%H:%M:%fZ', scan.at / 1e3, 'unixepoch') AS scanned_at,
    CASE WHEN NOT unreachable THEN scan.score END AS score, CASE WHEN NOT unreachable THEN scan.grade END AS grade,
    CASE WHEN NOT unreachable THEN CASE scan.stance WHEN 0 THEN 'Open' WHEN 1 THEN 'Selective' ELSE 'Walled' END
    END AS stance, scan.method FROM scan JOIN site ON site.id = site;
CREATE VIEW agents AS SELECT host, column1 AS agent, CASE WHEN ranked THEN CASE column1
    WHEN 'chatgpt_agent' THEN chatgpt_agent WHEN 'chatgpt' THEN chatgpt WHEN 'claude' THEN claude
    WHEN 'gemini' THEN gemini WHEN 'perplexity' THEN perplexity WHEN 'amazon' THEN amazon
    WHEN 'meta_ai' THEN meta_ai ELSE browser_agents END END AS verdict
    FROM site, (VALUES ('chatgpt_agent'), ('chatgpt'), ('claude'), ('gemini'), ('perplexity'), ('amazon'), ('meta_ai'),
    ('browser_agents'));
CREATE VIEW fixes AS SELECT host, value AS fix FROM site,
    json_each('["' || replace(trim(fixes, ','), ',', '","') || '"]') WHERE fixes <> '';
