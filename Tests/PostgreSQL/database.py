"""A queue in the database that libpq's environment names, for the programs beside this file."""

import os
import pathlib
import runpy
import sys
import threading

import psycopg2

SCHEMA = runpy.run_path(str(pathlib.Path(__file__).with_name("schema")))

ADD_TYPES = {
    "lanes": "text[]", "tags": "text[]", "unique_keys": "text[]", "rules": "smallint[]", "update_ids": "bigint[]",
    "update_revisions": "int[]", "priorities": "int[]", "not_befores": "float8[]", "expiries": "float8[]",
    "messages": "text[]", "methods": "text[]", "urls": "text[]", "origins": "text[]", "headers": "text[]",
    "timeouts": "float8[]", "constraints": "text[]", "user_infos": "bytea[]", "idempotency_keys": "text[]",
    "bodies": "bytea[]", "bound_count": "bigint", "bound_bytes": "bigint", "drops_oldest": "boolean",
    "retention": "float8",
}
ADD_DEFAULTS = {
    "lanes": "", "rules": 0, "priorities": 0, "methods": "POST", "urls": "http://a.example/", "headers": "{}",
    "origins": "http://a.example:", "constraints": "reachable",
}


def migrate():
    """Makes the schema anew, on a server of `.ci/postgresql` only: it drops the one that is there."""
    if "REQUEST_OPERATIONS_PGDATA" not in os.environ:
        sys.exit("This drops all queues of the database. Run it with .ci/postgresql run.")
    with psycopg2.connect("") as connection, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS request_operations CASCADE")
        for step in SCHEMA["steps"]():
            cursor.execute(step)


class Session:
    """A connection, each statement in a transaction of its own unless one was begun."""

    def __init__(self, lock_timeout=0):
        self.connection = psycopg2.connect("")
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.run("SET lock_timeout = %s", lock_timeout)

    def run(self, sql, *values):
        self.cursor.execute(sql, values or None)
        return self.cursor.fetchall() if self.cursor.description else []

    def value(self, sql, *values):
        return self.run(sql, *values)[0][0]

    def call(self, call, *values):
        """The first column of the first row of a function's result."""
        return self.value("SELECT request_operations." + call, *values)

    def enter(self, queue, lease):
        return self.call("enter(%s, %s)", queue, lease)

    def claim(self, queue, fence, most, per_origin=1000, taken="{}", after="", online=True, handlers=(), met=("reachable",),
              max_age=None, retention=3600.0, bound=None, rate=None, burst=None):
        """The summary and the claimed records: (next, last origin), [(id, lane, origin, revision)], [ended id]."""
        rows = self.run(
            "SELECT kind, next, last_origin, id, lane, origin, revision FROM request_operations.claim("
            "%s, %s, %s, %s, %s::jsonb, %s, %s, %s::text[], %s::text[], %s, %s, %s, %s, %s)",
            queue, fence, most, per_origin, taken, after, online, list(handlers), list(met), max_age, retention, bound, rate,
            burst)
        assert rows[0][0] == 0 and all(row[0] > 0 for row in rows[1:])
        return rows[0][1:3], [row[3:] for row in rows if row[0] == 2], [row[3] for row in rows if row[0] == 1]

    def deliver(self, fence, ids):
        """The result of each id."""
        return dict(self.run("SELECT id, result FROM request_operations.deliver(%s, %s, %s, 3600)", fence, ids, [200] * len(ids)))

    def add_records(self, queue, count, **columns):
        """The rows of `add_records`: (ord, kind, id, outcome)."""
        values = {name: [ADD_DEFAULTS.get(name)] * count if kind.endswith("[]") else None for name, kind in ADD_TYPES.items()}
        values.update(drops_oldest=False, retention=3600.0)
        values.update(columns)
        places = ", ".join("%s::" + kind for kind in ADD_TYPES.values())
        return self.run(f"SELECT * FROM request_operations.add_records(%s, {places})", queue, *(values[n] for n in ADD_TYPES))


class Threads:
    """Threads whose first error is raised at the end."""

    def __init__(self):
        self.threads, self.errors = [], []

    def start(self, body, *values):
        def run():
            try:
                body(*values)
            except BaseException as error:  # Whatever it is, the caller raises it.
                self.errors.append(error)

        thread = threading.Thread(target=run)
        self.threads.append(thread)
        thread.start()
        return thread

    def join(self):
        for thread in self.threads:
            thread.join()
        if self.errors:
            raise self.errors[0]
