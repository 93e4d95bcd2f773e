"""The tables of an embedded log."""

import sqlite3

VERSION = 1
"""Version of the tables, stored in the file; a release refuses files of newer versions."""

APPLICATION = int.from_bytes(b"ILNL", "big")
"""Marks SQLite files as logs of ours (`PRAGMA application_id`)."""

_TABLES = """
CREATE TABLE topics (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    topic_id TEXT NOT NULL,
    created_at REAL NOT NULL,
    keep_records INTEGER,
    keep_seconds REAL,
    keep_bytes INTEGER
);
CREATE TABLE partitions (
    slot INTEGER PRIMARY KEY,
    topic INTEGER NOT NULL REFERENCES topics (number),
    number INTEGER NOT NULL,
    next_offset INTEGER NOT NULL DEFAULT 0, -- if there are no records
    UNIQUE (topic, number)
);
CREATE TABLE committed (
    topic INTEGER NOT NULL REFERENCES topics (number),
    source TEXT NOT NULL,
    source_id TEXT NOT NULL,
    partition INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    next_offset INTEGER,
    PRIMARY KEY (topic, source, source_id, partition)
) WITHOUT ROWID;
"""

_RECORDS = """
CREATE TABLE records_{slot} (
    offset INTEGER PRIMARY KEY,
    total_bytes INTEGER NOT NULL, -- of the values, this one's included
    timestamp REAL NOT NULL,
    key TEXT,
    id TEXT,
    value BLOB
);
CREATE UNIQUE INDEX ids_{slot} ON records_{slot} (id) WHERE id IS NOT NULL;
"""


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of an empty file, in the open transaction."""
    _execute(connection, _TABLES)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def create_records(connection: sqlite3.Connection, slot: int) -> None:
    """Create the table of a partition's records: one table each, so that each grows at its end.

    An append changes the last page of this table and no other, so a commit writes one page. That is
    why the next offset and the number of bytes are read from the last record.
    """
    _execute(connection, _RECORDS.format(slot=slot))


def _execute(connection: sqlite3.Connection, script: str) -> None:
    # Not executescript, which would commit.
    for statement in script.split(";\n"):
        if statement.strip():
            connection.execute(statement)
