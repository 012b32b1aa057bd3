#if PostgreSQL
    extension PostgreSQLSchema {
        /// What senders take.
        ///
        /// A claim never waits for another one. Its cost grows neither with the backlog nor with what is not due: each step
        /// reads the front of an index, 256 or 1,024 records at most.
        static let claiming = #"""
            -- Wakes heads that wait. The caller has locked them.
            CREATE FUNCTION end_wait(queue text, ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            BEGIN
              UPDATE records SET state = 2, reason = 0, due = NULL
              WHERE queue = end_wait.queue AND id = ANY (end_wait.ids) AND state = 3;
            END $$;

            -- Makes records dead letters, and lets the next of their lanes come first. The caller has locked them.
            CREATE FUNCTION bury_records(queue text, ids bigint[], ending jsonb) RETURNS void LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE lanes text[];
            BEGIN
              WITH old AS MATERIALIZED (
                SELECT id, lane, state FROM records WHERE queue = bury_records.queue AND id = ANY (bury_records.ids)
              ), buried AS (
                UPDATE records r SET state = 5, reason = 0, due = NULL, ending = bury_records.ending
                FROM old WHERE r.queue = bury_records.queue AND r.id = old.id RETURNING old.lane, old.state
              )
              SELECT array_agg(DISTINCT lane) INTO lanes FROM buried WHERE state BETWEEN 2 AND 4;
              IF lanes IS NOT NULL THEN PERFORM promote(bury_records.queue, lanes); END IF;
            END $$;

            -- The origins of ready records after one, at most so many, in their order. One step of the index for each.
            CREATE FUNCTION ready_origins(queue text, after text, up_to text, most int) RETURNS text[]
            LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE origins text[];
            BEGIN
              WITH RECURSIVE ahead AS (
                SELECT (SELECT origin FROM records WHERE queue = ready_origins.queue AND state = 2
                  AND origin > ready_origins.after ORDER BY origin LIMIT 1) AS origin, 1 AS number
                UNION ALL
                SELECT (SELECT r.origin FROM records r WHERE r.queue = ready_origins.queue AND r.state = 2
                  AND r.origin > ahead.origin ORDER BY r.origin LIMIT 1), ahead.number + 1
                FROM ahead WHERE ahead.origin IS NOT NULL AND ahead.number < ready_origins.most
              )
              SELECT coalesce(array_agg(origin ORDER BY number) FILTER (WHERE up_to IS NULL OR origin <= up_to), '{}')
              INTO origins FROM ahead WHERE origin IS NOT NULL;
              RETURN origins;
            END $$;

            -- Whether a request to an origin needs no network.
            CREATE FUNCTION is_loopback(origin text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
            BEGIN
              RETURN coalesce(origin ~ '^[^/]*://(localhost|.*\.localhost|127\..*|::1|\[::1\]):[0-9]*$', false);
            END $$;

            -- Marks records as in flight and returns them, the highest priority first. The first row (kind 0) says when to look
            -- again; rows of kind 1 are records that ended, rows of kind 2 those that were claimed.
            CREATE FUNCTION claim(queue text, fence bigint, most int, per_origin int, taken jsonb, after_origin text,
              online boolean, handlers text[], met text[], max_age float8, retention float8, bound int, rate float8,
                burst int)
            RETURNS TABLE (kind smallint, next float8, last_origin text, outcome jsonb, id bigint, state smallint,
              reason smallint, due float8, lane text, tag text, unique_key text, priority int, added float8,
              not_before float8, expires float8, attempts int, refusals int, failure text, ending jsonb,
              body_size bigint, revision int, message text, method text, url text, headers jsonb, timeout float8,
              constraints text[], user_info bytea, idempotency_key text, origin text, body bytea)
            LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE
              moment timestamptz := clock_timestamp();
              was_idle boolean;
              is_more boolean := false;
              placement text;
              wait float8;
              expiry constant jsonb := '{"kind": "expired", "detail": "it expired before it was delivered"}';
              expired bigint[] := '{}'; dropped bigint[] := '{}'; ids bigint[];
              set_hash bigint := -9223372036854775807; needed text[];
              rests_any boolean; pauses_any boolean;
              full_origins text[]; by_origin text[];
              -- The places that are left by origin, -1 while it rests; until when; the tokens that there were; whether they
              -- are too few.
              rooms jsonb := '{}'; rests jsonb := '{}'; buckets jsonb := '{}'; scarce jsonb := '{}';
              -- Senders do not come evenly. What a quarter of a second has brought is there for the next one.
              capacity constant float8 := greatest(burst, 1 + rate / 4);
              room int; tokens float8; rest timestamptz; flying int;
              candidates refcursor; candidate record; has_candidate boolean; verdict smallint;
              chosen bigint[] := '{}'; chosen_origins text[] := '{}'; got bigint[]; claimed bigint[] := '{}';
              parked bigint[]; parked_reasons smallint[]; parked_dues timestamptz[];
            BEGIN
              SELECT is_idle INTO was_idle FROM senders WHERE fence = claim.fence AND queue = claim.queue;
              IF NOT FOUND THEN RAISE EXCEPTION 'the lease % was lost', claim.fence USING ERRCODE = 'RO001'; END IF;
              -- It alone waits for records, so it comes first.
              PERFORM reap(claim.queue, claim.fence);

              SELECT array_agg(e.id) INTO ids FROM (
                SELECT id FROM records WHERE queue = claim.queue AND expires IS NOT NULL AND state < 4
                  AND expires <= moment
                ORDER BY expires LIMIT 256 FOR UPDATE SKIP LOCKED) e;
              IF ids IS NOT NULL THEN
                PERFORM bury_records(claim.queue, ids, expiry);
                expired := ids;
                is_more := cardinality(ids) = 256;
              END IF;
              IF max_age IS NOT NULL THEN
                -- Records are added in the order of their ids, but for long transactions.
                SELECT array_agg(o.id) FILTER (WHERE o.added < moment - max_age * interval '1 s'),
                  min(extract(epoch FROM o.added - moment)::float8 + max_age) FILTER (
                    WHERE o.added >= moment - max_age * interval '1 s')
                INTO ids, wait FROM (
                  SELECT id, added, state FROM records WHERE queue = claim.queue ORDER BY id LIMIT 256) o
                WHERE o.state <> 4;
                IF ids IS NOT NULL THEN
                  SELECT coalesce(array_agg(o.id), '{}') INTO ids FROM (
                    SELECT id FROM records WHERE queue = claim.queue AND id = ANY (ids) AND state <> 4
                    FOR UPDATE SKIP LOCKED) o;
                  dropped := end_records(claim.queue, ids, '{"dropped": {"_0": "age"}}', retention);
                  is_more := is_more OR cardinality(dropped) = 256;
                END IF;
              END IF;
              -- What is due.
              SELECT array_agg(w.id) INTO ids FROM (
                SELECT id FROM records WHERE queue = claim.queue AND state = 3 AND due <= moment
                ORDER BY due LIMIT 256 FOR UPDATE SKIP LOCKED) w;
              IF ids IS NOT NULL THEN
                PERFORM end_wait(claim.queue, ids);
                is_more := is_more OR cardinality(ids) = 256;
              END IF;
              -- What another sender could not deliver, but this one can.
              IF cardinality(handlers) > 0 THEN
                SELECT array_agg(w.id) INTO ids FROM (
                  SELECT id FROM records WHERE queue = claim.queue AND state = 3 AND reason = 5
                    AND coalesce(origin, message) = ANY (handlers) LIMIT 256 FOR UPDATE SKIP LOCKED) w;
                IF ids IS NOT NULL THEN
                  PERFORM end_wait(claim.queue, ids);
                  is_more := is_more OR cardinality(ids) = 256;
                END IF;
              END IF;
              -- One step of the index for each set of constraints, so that many records nobody can send hide no other.
              FOR step IN 1..256 LOOP
                SELECT hash_array_extended(constraints, 0), constraints INTO set_hash, needed FROM records
                WHERE queue = claim.queue AND state = 3 AND reason::int = 6
                  AND hash_array_extended(constraints, 0) > set_hash
                ORDER BY hash_array_extended(constraints, 0) LIMIT 1;
                EXIT WHEN NOT FOUND;
                CONTINUE WHEN NOT needed <@ met;
                SELECT array_agg(w.id) INTO ids FROM (
                  SELECT id FROM records WHERE queue = claim.queue AND state = 3 AND reason::int = 6
                    AND hash_array_extended(constraints, 0) = set_hash AND constraints <@ met
                  LIMIT 256 FOR UPDATE SKIP LOCKED) w;
                IF ids IS NOT NULL THEN
                  PERFORM end_wait(claim.queue, ids);
                  is_more := is_more OR cardinality(ids) = 256;
                END IF;
              END LOOP;
              placement := place(claim.queue);
              is_more := placement = 'more' OR is_more;

              SELECT coalesce(array_agg(t.key), '{}') INTO full_origins
              FROM jsonb_each_text(taken) AS t (key, value) WHERE t.value::int >= per_origin;
              rests_any := EXISTS (SELECT FROM origins WHERE queue = claim.queue AND rests_until > moment);
              last_origin := after_origin;
              FOR pass IN 1..2 LOOP
                IF pass = 1 THEN
                  OPEN candidates FOR SELECT c.* FROM (
                    SELECT id, origin, lane, message, constraints, expires FROM records
                    WHERE queue = claim.queue AND state = 2 AND priority IS NOT NULL
                    ORDER BY priority DESC, id LIMIT 1024) c
                  WHERE c.origin IS NULL OR c.origin <> ALL (full_origins);
                ELSE
                  -- Many records of origins without a place stand in front, so the first of each origin are looked at.
                  EXIT WHEN cardinality(claimed) = most OR cardinality(parked) < 256 AND NOT EXISTS (
                    SELECT FROM records WHERE queue = claim.queue AND state = 2 AND priority IS NOT NULL
                    ORDER BY priority DESC, id OFFSET 1023 LIMIT 1);
                  is_more := is_more OR cardinality(parked) >= 256;
                  by_origin := ready_origins(claim.queue, after_origin, NULL, 256);
                  IF cardinality(by_origin) < 256 AND after_origin <> '' THEN
                    by_origin := by_origin
                      || ready_origins(claim.queue, '', after_origin, 256 - cardinality(by_origin));
                  END IF;
                  last_origin := coalesce(by_origin[cardinality(by_origin)], after_origin);
                  OPEN candidates FOR SELECT c.* FROM (
                    SELECT f.* FROM unnest(by_origin) AS o (origin) CROSS JOIN LATERAL (
                      SELECT id, origin, lane, message, constraints, expires, priority FROM records
                      WHERE queue = claim.queue AND state = 2 AND origin = o.origin
                      ORDER BY priority DESC, id LIMIT least(per_origin, most)) f
                    WHERE o.origin <> ALL (full_origins)
                    UNION ALL (
                      SELECT id, origin, lane, message, constraints, expires, priority FROM records
                      WHERE queue = claim.queue AND state = 2 AND origin IS NULL
                      ORDER BY priority DESC, id LIMIT most)) c
                  WHERE c.id <> ALL (claimed) ORDER BY c.priority DESC, c.id;
                END IF;
                -- The cursor comes first: a pause that was committed before its records could be seen is seen too.
                pauses_any := EXISTS (SELECT FROM lanes WHERE queue = claim.queue AND paused_since IS NOT NULL);
                parked := '{}';
                parked_reasons := '{}';
                parked_dues := '{}';
                LOOP
                  EXIT WHEN cardinality(claimed) >= most OR cardinality(parked) >= 256;
                  FETCH candidates INTO candidate;
                  has_candidate := FOUND;
                  IF has_candidate THEN
                    room := 1;
                    verdict := 0;
                    IF candidate.expires <= moment THEN
                      -- A later claim buries it.
                      room := 0;
                    ELSIF NOT online AND 'reachable' = ANY (candidate.constraints)
                      AND NOT is_loopback(candidate.origin) THEN
                      room := 0;
                    ELSIF candidate.message IS NOT NULL AND candidate.message <> ALL (handlers) THEN verdict := 5;
                    ELSIF NOT candidate.constraints <@ met THEN verdict := 6;
                    ELSIF pauses_any THEN
                      PERFORM FROM lanes WHERE queue = claim.queue AND lane = candidate.lane
                        AND paused_since IS NOT NULL;
                      IF FOUND THEN
                        PERFORM FROM lanes WHERE queue = claim.queue AND lane = candidate.lane
                          AND paused_since IS NOT NULL
                          FOR SHARE SKIP LOCKED;
                        IF FOUND THEN
                          -- Who resumes the lane waits until this is committed.
                          verdict := 7;
                        ELSE
                          -- It is resumed at this moment.
                          room := 0;
                          wait := least(wait, 0.1);
                        END IF;
                      END IF;
                    END IF;
                    IF room > 0 AND verdict = 0 AND candidate.origin IS NOT NULL THEN
                      room := (rooms ->> candidate.origin)::int;
                      IF room IS NULL THEN
                        room := per_origin - coalesce((taken ->> candidate.origin)::int, 0);
                        rest := NULL;
                        IF rests_any THEN
                          SELECT rests_until INTO rest FROM origins
                          WHERE queue = claim.queue AND origin = candidate.origin AND rests_until > moment;
                        END IF;
                        IF rest IS NOT NULL THEN
                          room := -1;
                          rests := rests || jsonb_build_object(candidate.origin, rest);
                        ELSIF bound IS NOT NULL OR rate IS NOT NULL THEN
                          -- The lock of the origin. Another sender that has it will be done soon.
                          IF NOT pg_try_advisory_xact_lock(
                            hashtextextended(claim.queue || ' ' || candidate.origin, 5102)) THEN
                            room := 0;
                            wait := least(wait, 0.02);
                          ELSE
                            IF bound IS NOT NULL THEN
                              SELECT count(*) INTO flying FROM records
                              WHERE queue = claim.queue AND origin = candidate.origin AND state = 4;
                              room := least(room, bound - flying);
                            END IF;
                            IF rate IS NOT NULL THEN
                              SELECT least(capacity, o.tokens
                                + extract(epoch FROM greatest(moment - o.refilled, interval '0'))::float8 * rate)
                              INTO tokens FROM origins o WHERE o.queue = claim.queue AND o.origin = candidate.origin;
                              tokens := coalesce(tokens, burst);
                              buckets := buckets || jsonb_build_object(candidate.origin, tokens);
                              IF floor(tokens) < room THEN
                                room := floor(tokens);
                                scarce := scarce || jsonb_build_object(candidate.origin, true);
                              END IF;
                            END IF;
                            room := greatest(room, 0);
                          END IF;
                        END IF;
                        rooms := rooms || jsonb_build_object(candidate.origin, room);
                      END IF;
                      IF room < 0 THEN verdict := 4;
                      ELSIF room = 0 THEN
                        IF scarce ? candidate.origin THEN
                          tokens := (buckets ->> candidate.origin)::float8;
                          wait := least(wait, (1 - (tokens - floor(tokens))) / rate);
                        ELSIF bound IS NOT NULL THEN
                          -- Another sender frees a place, and does not say so.
                          wait := least(wait, 0.25);
                        END IF;
                      ELSE rooms := rooms || jsonb_build_object(candidate.origin, room - 1);
                      END IF;
                    END IF;
                    IF verdict <> 0 THEN
                      parked := parked || candidate.id;
                      parked_reasons := parked_reasons || verdict;
                      parked_dues := parked_dues
                        || CASE verdict WHEN 4 THEN (rests ->> candidate.origin)::timestamptz ELSE 'infinity' END;
                    ELSIF room > 0 THEN
                      chosen := chosen || candidate.id;
                      chosen_origins := chosen_origins || candidate.origin;
                    END IF;
                  END IF;
                  IF cardinality(chosen) > 0 AND (NOT has_candidate OR cardinality(parked) >= 256
                    OR cardinality(claimed) + cardinality(chosen) = most)
                  THEN
                    SELECT coalesce(array_agg(l.id), '{}') INTO got FROM (
                      SELECT r.id FROM unnest(chosen) AS c (id) JOIN records r ON r.queue = claim.queue AND r.id = c.id
                      WHERE r.state = 2 FOR UPDATE OF r SKIP LOCKED) l;
                    claimed := claimed || got;
                    IF cardinality(got) < cardinality(chosen) THEN
                      -- Another sender has the others. Their places are free again.
                      SELECT rooms || coalesce(jsonb_object_agg(b.origin, (rooms ->> b.origin)::int + b.count), '{}')
                      INTO rooms FROM (
                        SELECT c.origin, count(*)::int FROM unnest(chosen, chosen_origins) AS c (id, origin)
                        WHERE c.origin IS NOT NULL AND c.id <> ALL (got) GROUP BY c.origin) b;
                    END IF;
                    chosen := '{}';
                    chosen_origins := '{}';
                  END IF;
                  EXIT WHEN NOT has_candidate;
                END LOOP;
                CLOSE candidates;
                IF cardinality(parked) > 0 THEN
                  WITH free AS MATERIALIZED (
                    SELECT r.id, p.reason, p.due
                    FROM unnest(parked, parked_reasons, parked_dues) AS p (id, reason, due)
                    JOIN records r ON r.queue = claim.queue AND r.id = p.id
                    WHERE r.state = 2 FOR UPDATE OF r SKIP LOCKED
                  )
                  UPDATE records r SET state = 3, reason = free.reason, due = free.due
                  FROM free WHERE r.queue = claim.queue AND r.id = free.id;
                END IF;
              END LOOP;

              IF buckets <> '{}' AND cardinality(claimed) > 0 THEN
                INSERT INTO origins AS o (queue, origin, tokens, refilled)
                  SELECT claim.queue, u.origin, (buckets ->> u.origin)::float8 - u.count, moment FROM (
                    SELECT origin, count(*) FROM records WHERE queue = claim.queue AND id = ANY (claimed)
                      GROUP BY origin) u
                  WHERE buckets ? u.origin
                ON CONFLICT (queue, origin) DO UPDATE
                  SET tokens = excluded.tokens, refilled = greatest(o.refilled, excluded.refilled);
              END IF;
              IF is_more AND cardinality(claimed) < most THEN
                wait := 0;
              ELSE
                SELECT least(wait, min(t.seconds)) INTO wait FROM (
                  (SELECT extract(epoch FROM due - moment)::float8 AS seconds FROM records
                    WHERE queue = claim.queue AND state = 3 AND due < 'infinity' ORDER BY due LIMIT 1)
                  UNION ALL
                  (SELECT extract(epoch FROM expires - moment)::float8 FROM records
                    WHERE queue = claim.queue AND expires IS NOT NULL AND state < 4 ORDER BY expires LIMIT 1)
                  UNION ALL
                  (SELECT 0.1 FROM vacancies WHERE queue = claim.queue LIMIT 1)) t;
                IF placement = 'elsewhere' THEN wait := least(wait, 0.02); END IF;
                -- Null means that nothing waits. What is past due by now was locked, perhaps by a long transaction of a user.
                IF wait <= 0 THEN wait := CASE WHEN is_more THEN 0 ELSE 0.1 END; END IF;
              END IF;
              IF cardinality(claimed) = 0 THEN
                IF NOT was_idle AND cardinality(expired) + cardinality(dropped) = 0 THEN
                  UPDATE senders SET is_idle = true WHERE fence = claim.fence;
                  -- Who adds from now on sends a notification. One more look finds what was added just before.
                  wait := 0;
                END IF;
              ELSE
                IF was_idle THEN UPDATE senders SET is_idle = false WHERE fence = claim.fence;
                ELSE PERFORM FROM senders WHERE fence = claim.fence FOR KEY SHARE;
                END IF;
                IF NOT FOUND THEN RAISE EXCEPTION 'the lease % was lost', claim.fence USING ERRCODE = 'RO001'; END IF;
              END IF;

              kind := 0;
              next := wait;
              RETURN NEXT;
              next := NULL;
              last_origin := NULL;
              kind := 1;
              outcome := jsonb_build_object('dead', jsonb_build_object('_0', expiry));
              FOREACH id IN ARRAY expired LOOP RETURN NEXT; END LOOP;
              outcome := '{"dropped": {"_0": "age"}}';
              FOREACH id IN ARRAY dropped LOOP RETURN NEXT; END LOOP;
              IF cardinality(claimed) = 0 THEN RETURN; END IF;
              RETURN QUERY WITH flights AS (
                UPDATE records SET state = 4, fence = claim.fence WHERE queue = claim.queue AND id = ANY (claimed)
                  RETURNING *
              )
              SELECT 2::smallint, NULL::float8, NULL::text, NULL::jsonb, f.id, 2::smallint, 0::smallint, NULL::float8,
                f.lane,
                f.tag, f.unique_key, f.priority, extract(epoch FROM f.added)::float8,
                extract(epoch FROM f.not_before)::float8, extract(epoch FROM f.expires)::float8, f.attempts, f.refusals,
                f.failure, f.ending, f.body_size, f.revision, f.message, f.method, f.url, f.headers, f.timeout,
                f.constraints, f.user_info, f.idempotency_key, f.origin, f.body
              FROM flights f ORDER BY f.priority DESC, f.id;
            END $$;
            """#
    }
#endif
