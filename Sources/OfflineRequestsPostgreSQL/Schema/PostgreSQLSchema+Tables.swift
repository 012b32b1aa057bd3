#if PostgreSQL
    extension PostgreSQLSchema {
        /// The tables, their indices and the view of a record.
        ///
        /// Each partial index holds only what its readers look for, so that no cost grows with what is not due.
        static let tables = #"""
            CREATE SCHEMA IF NOT EXISTS request_operations;
            SET LOCAL search_path = request_operations, pg_catalog;

            CREATE TABLE version (number int NOT NULL, oldest int NOT NULL);
            COMMENT ON TABLE version IS 'How many steps have run, and the oldest program that works with the schema.';
            INSERT INTO version VALUES (0, 0);

            CREATE TABLE records (
              id bigint GENERATED ALWAYS AS IDENTITY,
              queue text COLLATE "C" NOT NULL,
              state smallint NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 5),
              lane text COLLATE "C" NOT NULL DEFAULT '',
              priority int NOT NULL DEFAULT 0,
              origin text COLLATE "C",
              message text COLLATE "C",
              method text,
              url text,
              headers jsonb,
              body bytea,
              body_size bigint NOT NULL DEFAULT 0,
              timeout float8,
              constraints text[] NOT NULL DEFAULT '{reachable}',
              user_info bytea,
              idempotency_key text NOT NULL DEFAULT gen_random_uuid()::text,
              tag text COLLATE "C",
              unique_key text COLLATE "C",
              added timestamptz NOT NULL DEFAULT clock_timestamp(),
              not_before timestamptz,
              expires timestamptz,
              due timestamptz,
              reason smallint NOT NULL DEFAULT 0,
              attempts int NOT NULL DEFAULT 0,
              refusals int NOT NULL DEFAULT 0,
              failure text,
              ending jsonb,
              fence bigint,
              revision int NOT NULL DEFAULT 0,
              PRIMARY KEY (queue, id)
            ) WITH (
              -- A queue's rows live shortly: a fixed number of dead ones starts the cleaning, not a share of the table.
              autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
              autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
              autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000,
              autovacuum_vacuum_cost_delay = 0,
              toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 5000,
              toast.autovacuum_vacuum_cost_delay = 0
            );
            COMMENT ON COLUMN records.state IS
              '0 arrived, 1 queued, 2 ready, 3 waiting until due, 4 in flight, 5 dead. 2 to 4: head of its lane.';
            COMMENT ON COLUMN records.reason IS
              'Why it waits: 1 not before, 2 network, 3 backoff, 4 Retry-After, 5 handler, 6 constraint, 7 lane.';
            COMMENT ON COLUMN records.fence IS 'The sender that has it in flight, or had it last.';
            COMMENT ON COLUMN records.revision IS 'How often its content was replaced.';

            -- The condition or the order of each index fits one kind of search only. Otherwise the planner would take a wrong
            -- one, whenever its statistics are from a time when few records, or nearly all of them, had a state.
            CREATE INDEX records_arrived ON records (queue, (id + 0)) WHERE state = 0;
            CREATE INDEX records_behind ON records (queue, lane, id) WHERE state < 2 AND lane IS NOT NULL;
            CREATE UNIQUE INDEX records_head ON records (queue, lane) WHERE state BETWEEN 2 AND 4 AND lane IS NOT NULL;
            CREATE INDEX records_ready ON records (queue, priority DESC, id) WHERE state = 2 AND priority IS NOT NULL;
            CREATE INDEX records_ready_origin ON records (queue, origin, priority DESC, id)
              WHERE state = 2 AND origin IS NOT NULL;
            CREATE INDEX records_ready_message ON records (queue, priority DESC, id) WHERE state = 2 AND origin IS NULL;
            CREATE INDEX records_due ON records (queue, due) WHERE state = 3 AND due IS NOT NULL;
            -- A message has no origin, so its name takes that place.
            CREATE INDEX records_reason ON records (queue, reason, coalesce(origin, message))
              WHERE state = 3 AND reason > 0;
            CREATE INDEX records_constraints ON records (queue, hash_array_extended(constraints, 0))
              WHERE state = 3 AND reason::int = 6;
            CREATE INDEX records_flight ON records (fence, id) WHERE state = 4 AND fence IS NOT NULL;
            CREATE INDEX records_flight_origin ON records (queue, origin) WHERE state = 4 AND origin IS NOT NULL;
            CREATE INDEX records_dead ON records (queue, id) WHERE state = 5;
            CREATE INDEX records_expires ON records (queue, expires) WHERE expires IS NOT NULL AND state < 4;
            CREATE INDEX records_unique_key ON records (queue, unique_key, id)
              WHERE unique_key IS NOT NULL AND state < 5;
            CREATE INDEX records_tag ON records (queue, tag, id) WHERE tag IS NOT NULL;

            CREATE TABLE queues (queue text COLLATE "C" PRIMARY KEY);
            COMMENT ON TABLE queues IS 'A lock for each queue. Advisory locks are open to all roles.';

            CREATE TABLE senders (
              fence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
              queue text COLLATE "C" NOT NULL,
              lease_until timestamptz NOT NULL,
              is_idle boolean NOT NULL DEFAULT false
            ) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
            COMMENT ON TABLE senders IS 'Programs that deliver. Others take over from one whose lease has run out.';

            CREATE TABLE origins (
              queue text COLLATE "C" NOT NULL,
              origin text COLLATE "C" NOT NULL,
              rests_until timestamptz,
              tokens float8,
              refilled timestamptz,
              PRIMARY KEY (queue, origin)
            ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
            COMMENT ON TABLE origins IS 'Until when an origin rests, and its bucket of tokens.';

            CREATE TABLE lanes (
              queue text COLLATE "C" NOT NULL,
              lane text COLLATE "C" NOT NULL,
              paused_since timestamptz,
              paused_because text,
              failing_since timestamptz,
              PRIMARY KEY (queue, lane)
            );
            CREATE INDEX lanes_paused ON lanes (queue, lane) WHERE paused_since IS NOT NULL;

            CREATE TABLE vacancies (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, queue text COLLATE "C" NOT NULL,
              lane text COLLATE "C" NOT NULL)
              WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
            CREATE INDEX vacancies_queue ON vacancies (queue, id);
            COMMENT ON TABLE vacancies IS 'Lanes that may have records and no head, some of them several times.';

            CREATE TABLE outcomes (
              id bigint PRIMARY KEY,
              queue text COLLATE "C" NOT NULL,
              ended timestamptz NOT NULL DEFAULT clock_timestamp(),
              outcome jsonb NOT NULL,
              fence bigint
            ) WITH (
              autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0
            );
            CREATE INDEX outcomes_ended ON outcomes (queue, ended);

            -- A record as its readers see it. Its state is 0 pending, 1 waiting, 2 in flight, 3 dead.
            CREATE VIEW shown AS SELECT
              id,
              (CASE WHEN state = 5 THEN 3 WHEN state = 3 OR due > clock_timestamp() THEN 1 WHEN state = 4 THEN 2 ELSE 0
                END)::smallint AS state,
              reason,
              CASE WHEN isfinite(due) THEN extract(epoch FROM due)::float8 END AS due,
              lane, tag, unique_key, priority,
              extract(epoch FROM added)::float8 AS added,
              extract(epoch FROM not_before)::float8 AS not_before,
              extract(epoch FROM expires)::float8 AS expires,
              attempts, refusals, failure, ending, body_size, revision, message, method, url, headers, timeout,
              constraints, user_info, idempotency_key, origin, body, queue, state AS stored_state
            FROM records;
            """#
    }
#endif
