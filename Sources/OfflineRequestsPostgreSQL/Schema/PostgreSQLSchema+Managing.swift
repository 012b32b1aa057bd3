#if PostgreSQL
    extension PostgreSQLSchema {
        /// Ends of waits that no time brings.
        static let waking = #"""
            -- Wakes heads that wait for one of these reasons; with an origin, only its requests. Returns how many there were.
            CREATE FUNCTION wake(queue text, reasons smallint[], origin text, most int) RETURNS int LANGUAGE plpgsql
              AS $$
            #variable_conflict use_column
            DECLARE ids bigint[];
            BEGIN
              IF wake.origin IS NULL THEN
                SELECT coalesce(array_agg(w.id), '{}') INTO ids FROM (
                  SELECT r.id FROM unnest(reasons) AS c (cause) CROSS JOIN LATERAL (SELECT id FROM records
                    WHERE queue = wake.queue AND state = 3 AND reason = c.cause AND reason > 0
                    LIMIT most FOR UPDATE SKIP LOCKED) r LIMIT most) w;
              ELSE
                SELECT coalesce(array_agg(w.id), '{}') INTO ids FROM (
                  SELECT r.id FROM unnest(reasons) AS c (cause) CROSS JOIN LATERAL (SELECT id FROM records
                    WHERE queue = wake.queue AND state = 3 AND reason = c.cause AND reason > 0
                      AND coalesce(origin, message) = wake.origin AND message IS NULL
                    LIMIT most FOR UPDATE SKIP LOCKED) r LIMIT most) w;
              END IF;
              PERFORM end_wait(wake.queue, ids);
              RETURN cardinality(ids);
            END $$;

            -- Wakes heads that wait longer than they can, in seconds: a clock was changed. Returns how many there were.
            CREATE FUNCTION end_waits(queue text, longest float8, most int) RETURNS int LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE ids bigint[];
            BEGIN
              SELECT coalesce(array_agg(w.id), '{}') INTO ids FROM (SELECT id FROM records
                WHERE queue = end_waits.queue AND state = 3 AND reason IN (2, 3, 4) AND due < 'infinity'
                  AND due > clock_timestamp() + longest * interval '1 s' LIMIT most FOR UPDATE SKIP LOCKED) w;
              PERFORM end_wait(end_waits.queue, ids);
              RETURN cardinality(ids);
            END $$;

            -- Origins that heads wait for after a failure, at most so many. One step of the index for each.
            CREATE FUNCTION waiting_origins(queue text, most int) RETURNS SETOF text LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE origins text[] := '{}'; last text; is_origin boolean;
            BEGIN
              FOR cause IN 2..3 LOOP
                last := '';
                WHILE cardinality(origins) < most LOOP
                  SELECT coalesce(origin, message), message IS NULL INTO last, is_origin FROM records
                  WHERE queue = waiting_origins.queue AND state = 3 AND reason = cause AND reason > 0
                    AND coalesce(origin, message) > last
                  ORDER BY coalesce(origin, message) LIMIT 1;
                  EXIT WHEN NOT FOUND;
                  IF is_origin AND last <> ALL (origins) THEN origins := origins || last; END IF;
                END LOOP;
              END LOOP;
              RETURN QUERY SELECT unnest(origins);
            END $$;
            """#

        /// What people do with a queue.
        static let managing = #"""
            -- Removes records, also those in flight. Returns those that were there.
            CREATE FUNCTION remove(queue text, ids bigint[], retention float8) RETURNS SETOF bigint LANGUAGE plpgsql
              AS $$
            BEGIN
              RETURN QUERY SELECT unnest(end_records(queue, ids, '{"removed": {}}', retention));
            END $$;

            -- Removes at most so many records up to an id, by their state as readers see it, their lane and their tag. A null
            -- means any. Returns them.
            CREATE FUNCTION remove_matching(queue text, states smallint[], lane text, tag text, up_to bigint, most int,
              retention float8) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
            DECLARE
              search text := 'SELECT array_agg(f.id) FROM (SELECT id FROM shown WHERE queue = $1 AND id <= $5';
              ids bigint[];
            BEGIN
              IF states IS NOT NULL AND NOT states @> '{0, 1, 2, 3}'
                THEN search := search || ' AND state = ANY ($2)'; END IF;
              -- Their index holds only the dead, or only those with a tag.
              IF states = '{3}' THEN search := search || ' AND stored_state = 5'; END IF;
              IF lane IS NOT NULL THEN search := search || ' AND lane = $3'; END IF;
              IF tag IS NOT NULL THEN search := search || ' AND tag = $4'; END IF;
              EXECUTE search || ' ORDER BY id LIMIT $6) f' INTO ids USING queue, states, lane, tag, up_to, most;
              IF ids IS NULL THEN RETURN; END IF;
              PERFORM FROM records r WHERE r.queue = remove_matching.queue AND r.id = ANY (ids) ORDER BY r.id
                FOR UPDATE;
              -- Those that another transaction has changed meanwhile may not match any more.
              EXECUTE search || ' AND id = ANY ($7)) f' INTO ids USING queue, states, lane, tag, up_to, most, ids;
              IF ids IS NULL THEN RETURN; END IF;
              RETURN QUERY SELECT unnest(end_records(queue, ids, '{"removed": {}}', retention));
            END $$;

            -- Resumes a lane. Returns false if it is not paused.
            CREATE FUNCTION resume_lane(queue text, lane text) RETURNS boolean LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            BEGIN
              -- It waits for a claim that has just seen the pause.
              DELETE FROM lanes WHERE queue = resume_lane.queue AND lane = resume_lane.lane
                AND paused_since IS NOT NULL;
              IF NOT FOUND THEN RETURN false; END IF;
              UPDATE records SET state = 2, reason = 0, due = NULL
              WHERE queue = resume_lane.queue AND lane = resume_lane.lane AND state BETWEEN 2 AND 4 AND state::int = 3
                AND reason = 7;
              PERFORM call_senders(resume_lane.queue);
              RETURN true;
            END $$;

            -- Deletes old outcomes and what is known of unused origins and lanes, at most 5,000 of each. Returns how many there
            -- were.
            CREATE FUNCTION tidy(queue text, retention float8) RETURNS int LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE count int; total int;
            BEGIN
              WITH old AS MATERIALIZED (
                SELECT id FROM outcomes
                WHERE queue = tidy.queue AND ended < clock_timestamp() - greatest(retention, 0) * interval '1 s'
                ORDER BY ended LIMIT 5000 FOR UPDATE SKIP LOCKED
              )
              DELETE FROM outcomes o USING old WHERE o.queue = tidy.queue AND o.id = old.id;
              GET DIAGNOSTICS total = ROW_COUNT;
              -- A bucket that nobody has touched for so long is full.
              WITH old AS MATERIALIZED (
                SELECT origin FROM origins WHERE queue = tidy.queue AND (rests_until < clock_timestamp()) IS NOT FALSE
                  AND (refilled < clock_timestamp() - interval '1 hour') IS NOT FALSE LIMIT 5000 FOR UPDATE SKIP LOCKED
              )
              DELETE FROM origins o USING old WHERE o.queue = tidy.queue AND o.origin = old.origin;
              GET DIAGNOSTICS count = ROW_COUNT;
              total := total + count;
              -- A lane fails until a delivery, also while it has no records. After 30 days without them it is forgotten.
              WITH old AS MATERIALIZED (
                SELECT lane FROM lanes l WHERE queue = tidy.queue AND paused_since IS NULL AND (failing_since IS NULL
                  OR failing_since < clock_timestamp() - interval '30 days' AND NOT EXISTS (SELECT FROM records r
                    WHERE r.queue = tidy.queue AND r.lane = l.lane AND r.state BETWEEN 2 AND 4))
                LIMIT 5000 FOR UPDATE SKIP LOCKED
              )
              DELETE FROM lanes l USING old WHERE l.queue = tidy.queue AND l.lane = old.lane;
              GET DIAGNOSTICS count = ROW_COUNT;
              RETURN total + count;
            END $$;
            """#

        /// Settings and rights of the functions that are called from outside. A migration runs it after the steps.
        static let settings = #"""
            SET LOCAL search_path = request_operations, pg_catalog;
            DO $$
            DECLARE name text;
            BEGIN
              FOR name IN SELECT p.oid::regprocedure::text FROM pg_proc p
                WHERE p.pronamespace = 'request_operations'::regnamespace AND p.proname IN ('add', 'cancel', 'retry',
                  'grant_add', 'grant_send',
                  'add_records', 'enter', 'leave', 'beat', 'take_back', 'claim', 'deliver', 'postpone', 'bury', 'note',
                  'may_send', 'wake', 'end_waits', 'waiting_origins', 'remove', 'remove_matching',
                  'pause_lane', 'resume_lane', 'tidy')
              LOOP
                -- A role that makes temporary tables cannot put one before ours.
                EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, request_operations, pg_temp', name);
                -- Every statement walks an index. Statistics that are old must not lead it elsewhere.
                EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off SET enable_bitmapscan = off', name);
                EXECUTE format('ALTER FUNCTION %s SET enable_hashjoin = off SET enable_mergejoin = off', name);
                EXECUTE format('ALTER FUNCTION %s SET enable_material = off SET jit = off', name);
                EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_generic_plan', name);
              END LOOP;
              IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'request_operations_add') THEN
                PERFORM grant_add('request_operations_add');
              END IF;
              IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'request_operations_send') THEN
                PERFORM grant_send('request_operations_send');
              END IF;
            END $$;
            REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA request_operations FROM PUBLIC;
            """#
    }
#endif
