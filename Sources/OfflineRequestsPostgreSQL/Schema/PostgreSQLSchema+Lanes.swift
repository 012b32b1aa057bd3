#if PostgreSQL
    extension PostgreSQLSchema {
        /// The order in a lane: which record is its head.
        ///
        /// An insertion takes no lock, because users' transactions may be long and may roll back. So a record arrives with
        /// state 0, and a claim finds its place. The lock of the head's row is the lock of its lane. The transaction that ends a
        /// head makes the next record the head.
        ///
        /// Senders never wait for a row of a record that is not in flight: they skip it. A lane that they had to skip is noted
        /// in `vacancies` and looked at again. **A lane with a queued record has a head or a vacancy.** Those who do wait
        /// (deliveries, removals, additions with a key) lock records in the order of their ids. So there is no deadlock.
        static let lanes = #"""
            -- Makes records the heads of their lanes, which have none. Returns the lanes. A record that another transaction
            -- has locked is skipped.
            CREATE FUNCTION make_heads(queue text, ids bigint[]) RETURNS text[] LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE lanes text[];
            BEGIN
              WITH free AS MATERIALIZED (
                SELECT r.id FROM unnest(make_heads.ids) AS f (id)
                JOIN records r ON r.queue = make_heads.queue AND r.id = f.id
                WHERE r.state < 2 FOR UPDATE OF r SKIP LOCKED
              ), heads AS (
                UPDATE records r SET
                  state = CASE WHEN r.due > clock_timestamp() THEN 3 ELSE 2 END,
                  reason = CASE WHEN r.due > clock_timestamp() THEN r.reason ELSE 0 END,
                  due = CASE WHEN r.due > clock_timestamp() THEN r.due END
                FROM free WHERE r.queue = make_heads.queue AND r.id = free.id RETURNING r.lane
              )
              SELECT coalesce(array_agg(lane), '{}') INTO lanes FROM heads;
              RETURN lanes;
            END $$;

            -- Makes the first record of each lane its head. The caller has ended their heads in this transaction.
            CREATE FUNCTION promote(queue text, lanes text[]) RETURNS void LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE firsts bigint[]; first_lanes text[]; made text[];
            BEGIN
              SELECT array_agg(f.id), array_agg(l.lane) INTO firsts, first_lanes
              FROM unnest(promote.lanes) AS l (lane) CROSS JOIN LATERAL (SELECT id FROM records
                WHERE queue = promote.queue AND lane = l.lane AND state < 2 ORDER BY id LIMIT 1) f;
              IF firsts IS NOT NULL THEN
                made := make_heads(promote.queue, firsts);
                INSERT INTO vacancies (queue, lane)
                  SELECT promote.queue, l.lane FROM unnest(first_lanes) AS l (lane) WHERE l.lane <> ALL (made);
              END IF;
              IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
                -- The snapshot is that of the user's transaction. It may be older than what is queued in the lanes.
                INSERT INTO vacancies (queue, lane) SELECT promote.queue, l.lane FROM unnest(promote.lanes) AS l (lane);
              END IF;
            END $$;

            -- Gives arrived records their places in their lanes, 128 at a time. Returns 'more' if there may be more
            -- of them, 'none', or 'elsewhere': one transaction at a time does it for a queue, and the others do not wait.
            CREATE FUNCTION place(queue text) RETURNS text LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE
              arrived bigint[]; looked bigint[]; lanes text[]; noted text[]; locked bigint[];
              demoted bigint[]; firsts bigint[]; first_lanes text[]; made text[]; doubtful text[];
            BEGIN
              -- Without work, no row is locked. The order leads to the index.
              IF (SELECT id FROM records WHERE queue = place.queue AND state = 0 ORDER BY id + 0 LIMIT 1) IS NULL
                AND (SELECT id FROM vacancies WHERE queue = place.queue ORDER BY id LIMIT 1) IS NULL
              THEN RETURN 'none'; END IF;
              PERFORM FROM queues WHERE queue = place.queue FOR UPDATE SKIP LOCKED;
              IF NOT FOUND THEN RETURN 'elsewhere'; END IF;
              -- A record that another transaction has locked is left for later: it may be about to be removed.
              SELECT coalesce(array_agg(id), '{}'), coalesce(array_agg(DISTINCT lane), '{}') INTO arrived, lanes FROM (
                SELECT id, lane FROM records WHERE queue = place.queue AND state = 0
                ORDER BY id + 0 LIMIT 128 FOR UPDATE SKIP LOCKED) a;
              SELECT coalesce(array_agg(id), '{}'), coalesce(array_agg(DISTINCT lane), '{}') INTO looked, noted FROM (
                SELECT id, lane FROM vacancies WHERE queue = place.queue ORDER BY random() LIMIT 256) v;
              IF cardinality(arrived) + cardinality(looked) = 0 THEN RETURN 'none'; END IF;
              SELECT coalesce(array_agg(DISTINCT lane), '{}') INTO lanes FROM unnest(lanes || noted) AS l (lane);
              SELECT coalesce(array_agg(id), '{}') INTO locked FROM (
                SELECT r.id FROM unnest(lanes) AS l (lane) CROSS JOIN LATERAL (SELECT id FROM records
                  WHERE queue = place.queue AND lane = l.lane AND state BETWEEN 2 AND 4 LIMIT 1
                    FOR UPDATE SKIP LOCKED) r) h;
              -- This statement sees all that ended before the heads were locked. A head that is locked stays until the commit.
              -- A lane without a head cannot get one meanwhile, but from here.
              SELECT
                array_agg(h.id) FILTER (WHERE h.id = ANY (locked) AND h.state < 4 AND f.id < h.id
                  AND f.id = ANY (arrived)),
                array_agg(f.id) FILTER (WHERE h.id IS NULL
                  OR h.id = ANY (locked) AND h.state < 4 AND f.id < h.id AND f.id = ANY (arrived)),
                array_agg(l.lane) FILTER (WHERE h.id IS NULL),
                coalesce(array_agg(l.lane) FILTER (WHERE h.id IS NOT NULL AND h.id <> ALL (locked)), '{}')
              INTO demoted, firsts, first_lanes, doubtful
              FROM unnest(lanes) AS l (lane)
              LEFT JOIN LATERAL (SELECT id, state FROM records
                WHERE queue = place.queue AND lane = l.lane AND state BETWEEN 2 AND 4 LIMIT 1) h ON true
              CROSS JOIN LATERAL (SELECT id FROM records
                WHERE queue = place.queue AND lane = l.lane AND state < 2 ORDER BY id LIMIT 1) f;
              IF demoted IS NOT NULL THEN
                -- A wait for an event begins anew when it is the head again.
                UPDATE records SET state = 1, due = CASE WHEN isfinite(due) THEN due END,
                  reason = CASE WHEN isfinite(due) THEN reason ELSE 0 END
                WHERE queue = place.queue AND id = ANY (demoted);
              END IF;
              IF firsts IS NOT NULL THEN
                made := make_heads(place.queue, firsts);
                SELECT doubtful || coalesce(array_agg(l.lane), '{}') INTO doubtful
                FROM unnest(first_lanes) AS l (lane) WHERE l.lane <> ALL (made);
              END IF;
              -- Written so, the state leads to no index: the ids do.
              UPDATE records SET state = 1 WHERE queue = place.queue AND id = ANY (arrived) AND state::int = 0;
              IF cardinality(looked) > 0 THEN
                DELETE FROM vacancies WHERE queue = place.queue AND id = ANY (looked) AND lane <> ALL (doubtful);
              END IF;
              IF cardinality(doubtful) > 0 THEN
                INSERT INTO vacancies (queue, lane)
                  SELECT place.queue, l.lane FROM unnest(doubtful) AS l (lane) WHERE l.lane <> ALL (noted);
              END IF;
              RETURN CASE WHEN cardinality(arrived) = 128 THEN 'more' ELSE 'none' END;
            END $$;

            -- Locks a record unless it is in flight; a dead one only if that is asked for. Returns whether it did. A row that was
            -- claimed while this waited would stay locked as long as the caller's transaction, and its delivery with it. The
            -- error undoes that.
            CREATE FUNCTION lock_unsent(queue text, id bigint, dead_too boolean) RETURNS boolean LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            BEGIN
              PERFORM FROM records WHERE queue = lock_unsent.queue AND id = lock_unsent.id
                AND (state < 4 OR dead_too AND state = 5) FOR UPDATE;
              IF FOUND THEN RETURN true; END IF;
              RAISE EXCEPTION 'not there' USING ERRCODE = 'RO003';
            EXCEPTION WHEN SQLSTATE 'RO003' THEN RETURN false;
            END $$;

            -- Ends records that the caller may end: deletes them, keeps their outcome, and lets the next of their lanes come
            -- first. It waits for their locks in the order of the ids. Returns those that were there.
            CREATE FUNCTION end_records(queue text, ids bigint[], outcome jsonb, retention float8) RETURNS bigint[]
            LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE ended bigint[]; lanes text[];
            BEGIN
              PERFORM FROM records WHERE queue = end_records.queue AND id = ANY (end_records.ids)
                ORDER BY id FOR UPDATE;
              WITH gone AS (
                DELETE FROM records WHERE queue = end_records.queue AND id = ANY (end_records.ids)
                  RETURNING id, lane, state
              )
              SELECT coalesce(array_agg(id ORDER BY id), '{}'), array_agg(DISTINCT lane)
                FILTER (WHERE state BETWEEN 2 AND 4)
              INTO ended, lanes FROM gone;
              IF retention > 0 THEN
                INSERT INTO outcomes (queue, id, outcome)
                  SELECT end_records.queue, e.id, end_records.outcome FROM unnest(ended) AS e (id)
                    ON CONFLICT DO NOTHING;
              END IF;
              IF lanes IS NOT NULL THEN PERFORM promote(end_records.queue, lanes); END IF;
              RETURN ended;
            END $$;
            """#
    }
#endif
