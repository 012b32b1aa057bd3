#if PostgreSQL
    extension PostgreSQLSchema {
        /// How records come into a queue. An addition takes locks only for its unique keys and bounds.
        static let adding = #"""
            -- Inserts records in their order. The names of constraints are joined by U+001F.
            CREATE FUNCTION insert_records(queue text, lanes text[], tags text[], unique_keys text[], priorities int[],
              not_befores float8[], expiries float8[], messages text[], methods text[], urls text[], origins text[],
              headers text[], timeouts float8[], constraints text[], user_infos bytea[], idempotency_keys text[],
              bodies bytea[]) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            BEGIN
              RETURN QUERY INSERT INTO records (queue, lane, tag, unique_key, priority, not_before, due, reason,
                expires, message, method, url, origin, headers, timeout, constraints, user_info, idempotency_key, body,
                body_size)
              SELECT insert_records.queue, r.lane, r.tag, r.unique_key, r.priority, to_timestamp(r.not_before),
                CASE WHEN to_timestamp(r.not_before) > clock_timestamp() THEN to_timestamp(r.not_before) END,
                CASE WHEN to_timestamp(r.not_before) > clock_timestamp() THEN 1 ELSE 0 END,
                to_timestamp(r.expires), r.message, r.method, r.url, r.origin, r.headers::jsonb, r.timeout,
                string_to_array(r.constraints, chr(31)), r.user_info,
                coalesce(r.idempotency_key, gen_random_uuid()::text), r.body, coalesce(octet_length(r.body), 0)
              FROM unnest(insert_records.lanes, tags, unique_keys, priorities, not_befores, expiries, messages, methods,
                urls, insert_records.origins, insert_records.headers, timeouts, insert_records.constraints, user_infos,
                idempotency_keys, bodies) WITH ORDINALITY AS r (lane, tag, unique_key, priority, not_before, expires,
                message, method, url, origin, headers, timeout, constraints, user_info, idempotency_key, body, number)
              ORDER BY r.number
              RETURNING id;
            END $$;

            -- Drops records until one more fits. Error RO002: it does not fit. `besides`: the records whose place it takes;
            -- `total` and `bytes` count the others.
            CREATE FUNCTION make_room(queue text, size bigint, besides bigint[], total bigint, bytes bigint,
              bound_count bigint, bound_bytes bigint, drops_oldest boolean, retention float8)
            RETURNS TABLE (id bigint, outcome jsonb, freed bigint) LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE cause text; oldest bigint;
            BEGIN
              LOOP
                cause := CASE WHEN total + 1 > bound_count THEN 'count' WHEN bytes + size > bound_bytes
                  THEN 'bytes' END;
                EXIT WHEN cause IS NULL;
                oldest := NULL;
                IF drops_oldest AND size <= coalesce(bound_bytes, size) AND coalesce(bound_count, 1) > 0 THEN
                  SELECT r.id, r.body_size INTO oldest, freed FROM records r
                  WHERE r.queue = make_room.queue AND r.state = 5 AND r.id <> ALL (besides)
                  ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED;
                  IF NOT FOUND THEN
                    SELECT r.id, r.body_size INTO oldest, freed FROM records r
                    WHERE r.queue = make_room.queue AND r.state < 4 AND r.id <> ALL (besides)
                    ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED;
                  END IF;
                END IF;
                IF oldest IS NULL THEN RAISE EXCEPTION 'the queue is full' USING ERRCODE = 'RO002'; END IF;
                outcome := jsonb_build_object('dropped', jsonb_build_object('_0', cause));
                PERFORM end_records(make_room.queue, ARRAY[oldest], outcome, retention);
                total := total - 1;
                bytes := bytes - freed;
                id := oldest;
                RETURN NEXT;
              END LOOP;
            END $$;

            -- Adds records in their order, all or none. The rules: 0 append, 1 keep, 2 replace, 3 none with the key may be there,
            -- 4 give the record `update_ids`, if it has still this revision, the new content.
            --
            -- One row of kind 0 (added), 1 (the old record stays, or got the new content) or 2 (the rule's expectation no longer
            -- holds) for each record; one of kind 3 for each record that ended. Error RO002: the queue is full.
            CREATE FUNCTION add_records(queue text, lanes text[], tags text[], unique_keys text[], rules smallint[],
              update_ids bigint[], update_revisions int[], priorities int[], not_befores float8[], expiries float8[],
              messages text[], methods text[], urls text[], origins text[], headers text[], timeouts float8[],
              constraints text[], user_infos bytea[], idempotency_keys text[], bodies bytea[], bound_count bigint,
              bound_bytes bigint, drops_oldest boolean, retention float8)
            RETURNS TABLE (ord int, kind smallint, id bigint, outcome jsonb) LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE
              is_bounded constant boolean := bound_count IS NOT NULL OR bound_bytes IS NOT NULL;
              lock bigint; r record; old bigint[]; gone record; added bigint; owned bigint[] := '{}';
              total bigint := 0; bytes bigint := 0; old_bytes bigint; size bigint;
            BEGIN
              IF NOT is_bounded AND 0 = ALL (rules) THEN
                RETURN QUERY SELECT (row_number() OVER (ORDER BY i.id))::int, 0::smallint, i.id, NULL::jsonb
                  FROM insert_records(add_records.queue, lanes, tags, unique_keys, priorities, not_befores, expiries,
                    messages, methods, urls, origins, headers, timeouts, constraints, user_infos, idempotency_keys,
                    bodies) AS i (id);
                PERFORM call_senders(add_records.queue);
                RETURN;
              END IF;
              IF is_bounded THEN
                PERFORM pg_advisory_xact_lock(hashtextextended(add_records.queue, 5104));
                IF bound_bytes IS NULL THEN SELECT count(*) INTO total FROM records WHERE queue = add_records.queue;
                ELSE
                  SELECT count(*), coalesce(sum(body_size), 0) INTO total, bytes FROM records
                  WHERE queue = add_records.queue;
                END IF;
              END IF;
              -- All locks in one order, so that two calls never wait for each other.
              FOR lock IN SELECT DISTINCT hashtextextended(add_records.queue || ' ' || k.key, 5103)
                FROM unnest(unique_keys, rules) AS k (key, rule) WHERE k.key IS NOT NULL AND k.rule > 0 ORDER BY 1
              LOOP PERFORM pg_advisory_xact_lock(lock); END LOOP;
              FOR lock IN SELECT DISTINCT f.id
                FROM unnest(unique_keys, rules, update_ids) AS k (key, rule, id) CROSS JOIN LATERAL (
                  SELECT id FROM records
                  WHERE queue = add_records.queue AND unique_key = k.key AND state < 5 AND state < 4 AND k.rule = 2
                  UNION ALL SELECT k.id WHERE k.rule = 4) f
                ORDER BY f.id
              LOOP
                IF lock_unsent(add_records.queue, lock, false) THEN owned := owned || lock; END IF;
              END LOOP;
              FOR r IN SELECT * FROM unnest(lanes, tags, unique_keys, rules, update_ids, update_revisions, priorities,
                not_befores, expiries, messages, methods, urls, origins, add_records.headers, timeouts,
                add_records.constraints, user_infos, idempotency_keys, bodies) WITH ORDINALITY AS r (lane, tag,
                unique_key, rule, update_id, update_revision, priority, not_before, expires, message, method, url,
                origin, headers, timeout, constraints, user_info, idempotency_key, body, number)
              LOOP
                ord := r.number;
                id := NULL;
                outcome := NULL;
                old := '{}';
                IF r.unique_key IS NOT NULL AND r.rule = 2 THEN
                  SELECT coalesce(array_agg(f.id ORDER BY f.id), '{}') INTO old FROM records f
                  WHERE f.queue = add_records.queue AND f.unique_key = r.unique_key AND f.state < 5
                    AND f.id = ANY (owned);
                ELSIF r.unique_key IS NOT NULL AND r.rule IN (1, 3) THEN
                  SELECT min(f.id) INTO id FROM records f
                  WHERE f.queue = add_records.queue AND f.unique_key = r.unique_key AND f.state < 5
                    AND (f.state < 4 OR r.rule = 1);
                  IF id IS NOT NULL THEN
                    kind := r.rule / 2 + 1;
                    id := CASE r.rule WHEN 1 THEN id END;
                    RETURN NEXT;
                    CONTINUE;
                  END IF;
                ELSIF r.rule = 4 THEN
                  old := ARRAY[r.update_id];
                  PERFORM FROM records WHERE queue = add_records.queue AND id = r.update_id
                    AND r.update_id = ANY (owned) AND revision = r.update_revision;
                  IF NOT FOUND THEN
                    kind := 2;
                    RETURN NEXT;
                    CONTINUE;
                  END IF;
                END IF;
                IF is_bounded THEN
                  size := coalesce(octet_length(r.body), 0);
                  SELECT coalesce(sum(f.body_size), 0) INTO old_bytes FROM unnest(old) AS o (id) CROSS JOIN LATERAL (
                    SELECT body_size FROM records WHERE queue = add_records.queue AND id = o.id LIMIT 1) f;
                  total := total - cardinality(old);
                  bytes := bytes - old_bytes;
                  FOR gone IN SELECT * FROM make_room(add_records.queue, size, old, total, bytes, bound_count,
                    bound_bytes, drops_oldest, retention)
                  LOOP
                    total := total - 1;
                    bytes := bytes - gone.freed;
                    kind := 3;
                    id := gone.id;
                    outcome := gone.outcome;
                    RETURN NEXT;
                  END LOOP;
                  outcome := NULL;
                  total := total + 1;
                  bytes := bytes + size;
                END IF;
                IF r.rule = 4 THEN
                  -- Earlier attempts do not count for the new content. Its own handler and constraints count.
                  UPDATE records SET message = r.message, method = r.method, url = r.url, origin = r.origin,
                    headers = r.headers::jsonb, timeout = r.timeout,
                    constraints = string_to_array(r.constraints, chr(31)), user_info = r.user_info,
                    idempotency_key = coalesce(r.idempotency_key, gen_random_uuid()::text), body = r.body,
                    body_size = coalesce(octet_length(r.body), 0), attempts = 0, refusals = 0, failure = NULL,
                    revision = revision + 1,
                    state = CASE WHEN state = 3 AND reason IN (5, 6) THEN 2 ELSE state END,
                    due = CASE WHEN state = 3 AND reason IN (5, 6) THEN NULL ELSE due END,
                    reason = CASE WHEN state = 3 AND reason IN (5, 6) THEN 0 ELSE reason END
                  WHERE queue = add_records.queue AND id = r.update_id;
                  kind := 1;
                  id := r.update_id;
                  RETURN NEXT;
                  CONTINUE;
                END IF;
                SELECT i.id INTO added FROM insert_records(add_records.queue, ARRAY[r.lane], ARRAY[r.tag],
                  ARRAY[r.unique_key], ARRAY[r.priority], ARRAY[r.not_before], ARRAY[r.expires], ARRAY[r.message],
                  ARRAY[r.method], ARRAY[r.url], ARRAY[r.origin], ARRAY[r.headers], ARRAY[r.timeout],
                  ARRAY[r.constraints], ARRAY[r.user_info], ARRAY[r.idempotency_key], ARRAY[r.body]) AS i (id);
                owned := owned || added;
                kind := 0;
                id := added;
                RETURN NEXT;
                IF cardinality(old) > 0 THEN
                  kind := 3;
                  outcome := jsonb_build_object('replaced', jsonb_build_object('by', added));
                  FOREACH id IN ARRAY end_records(add_records.queue, old, outcome, retention)
                  LOOP RETURN NEXT; END LOOP;
                END IF;
              END LOOP;
              PERFORM call_senders(add_records.queue);
            END $$;
            """#
    }
#endif
