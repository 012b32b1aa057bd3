#if PostgreSQL
    extension PostgreSQLSchema {
        /// What senders report. Each function changes only a record that is in flight under the caller's lease.
        ///
        /// The results: 1 it is recorded, also if it was before and the answer was lost; 0 the record was removed; -1 another
        /// sender has taken it over.
        static let delivering = #"""
            -- What has become of a record that is not in flight under a lease. The lease's queue may be unknown by now.
            -- `is_recorded` is asked of a record that this sender had last.
            CREATE FUNCTION late_result(fence bigint, id bigint, is_recorded text) RETURNS smallint LANGUAGE plpgsql
              AS $$
            #variable_conflict use_column
            DECLARE own_fence bigint; own_state smallint; own_ending jsonb; own_attempts int;
            BEGIN
              IF EXISTS (SELECT FROM outcomes WHERE id = late_result.id AND fence = late_result.fence)
                THEN RETURN 1; END IF;
              SELECT r.* INTO own_fence, own_state, own_ending, own_attempts FROM queues q CROSS JOIN LATERAL (
                SELECT fence, state, ending, attempts FROM records WHERE queue = q.queue AND id = late_result.id
                LIMIT 1) r;
              IF NOT FOUND THEN RETURN 0; END IF;
              RETURN CASE WHEN own_fence = late_result.fence AND (own_state = 5 AND own_ending::text = is_recorded
                OR own_state < 5 AND own_attempts::text = is_recorded) THEN 1 ELSE -1 END;
            END $$;

            -- Records successes: deletes the records and lets the next of their lanes come first.
            CREATE FUNCTION deliver(fence bigint, ids bigint[], statuses int[], retention float8)
            RETURNS TABLE (id bigint, result smallint) LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE done bigint[]; own_queue text; freed text[];
            BEGIN
              -- Without its sender, nothing is in flight under a lease. Written so, the state leads to no index: the ids do. The
              -- index of what is in flight has many dead entries.
              SELECT queue INTO own_queue FROM senders WHERE fence = deliver.fence;
              PERFORM FROM records WHERE queue = own_queue AND id = ANY (deliver.ids) AND state::int = 4
                AND fence = deliver.fence ORDER BY id FOR UPDATE;
              WITH gone AS (
                DELETE FROM records WHERE queue = own_queue AND id = ANY (deliver.ids) AND state::int = 4
                  AND fence = deliver.fence RETURNING id, lane
              )
              SELECT coalesce(array_agg(id), '{}'), array_agg(lane) INTO done, freed FROM gone;
              IF freed IS NOT NULL THEN
                IF retention > 0 THEN
                  INSERT INTO outcomes (queue, id, outcome, fence)
                    SELECT own_queue, d.id,
                      CASE WHEN d.status IS NULL THEN '{"delivered": {}}'::jsonb
                        ELSE jsonb_build_object('delivered', jsonb_build_object('status', d.status)) END, deliver.fence
                    FROM unnest(deliver.ids, deliver.statuses) AS d (id, status) WHERE d.id = ANY (done)
                  ON CONFLICT DO NOTHING;
                END IF;
                IF EXISTS (SELECT FROM lanes WHERE queue = own_queue) THEN
                  UPDATE lanes SET failing_since = NULL
                  WHERE queue = own_queue AND lane = ANY (freed) AND failing_since IS NOT NULL;
                END IF;
                PERFORM promote(own_queue, freed);
              END IF;
              RETURN QUERY SELECT d.id,
                CASE WHEN d.id = ANY (done) THEN 1::smallint ELSE late_result(deliver.fence, d.id, NULL) END
              FROM unnest(deliver.ids) AS d (id);
            END $$;

            -- Pauses a lane, unless it is paused. Returns whether it was not.
            CREATE FUNCTION pause_lane(queue text, lane text, because text) RETURNS boolean LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            BEGIN
              INSERT INTO lanes AS l (queue, lane, paused_since, paused_because)
                VALUES (pause_lane.queue, pause_lane.lane, clock_timestamp(), pause_lane.because)
              ON CONFLICT (queue, lane) DO UPDATE
                SET paused_since = excluded.paused_since, paused_because = excluded.paused_because
                WHERE l.paused_since IS NULL;
              RETURN FOUND;
            END $$;

            -- Notes that a lane fails. One that has failed for `patience` seconds without a delivery is paused, which is the
            -- answer. Only lanes with a name are watched, and only with a patience.
            CREATE FUNCTION lane_failed(queue text, lane text, patience float8) RETURNS boolean LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE since timestamptz;
            BEGIN
              IF patience IS NULL OR lane_failed.lane = '' THEN RETURN false; END IF;
              INSERT INTO lanes AS l (queue, lane, failing_since)
                VALUES (lane_failed.queue, lane_failed.lane, clock_timestamp())
                ON CONFLICT (queue, lane) DO UPDATE SET failing_since = excluded.failing_since
                WHERE l.failing_since IS NULL;
              SELECT failing_since INTO since FROM lanes WHERE queue = lane_failed.queue AND lane = lane_failed.lane
                AND failing_since < clock_timestamp() - patience * interval '1 s';
              -- As Swift writes its reason, with seconds since 2001.
              RETURN FOUND AND pause_lane(lane_failed.queue, lane_failed.lane, jsonb_build_object('failing',
                jsonb_build_object('since', extract(epoch FROM since)::float8 - 978307200))::text);
            END $$;

            -- Records a failure: the record waits for `delay` seconds; without a delay, until an event.
            --
            -- `rests`: all requests to the origin wait for so many seconds. `patience`: a lane that has failed for so many
            -- seconds, without a delivery, is paused (result 2).
            CREATE FUNCTION postpone(fence bigint, id bigint, attempts int, refusals int, failure text, delay float8,
              reason int, rests float8, patience float8) RETURNS smallint LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE own_queue text; own_lane text; own_origin text; result smallint := 1;
            BEGIN
              UPDATE records SET state = 3, attempts = postpone.attempts, refusals = postpone.refusals,
                failure = postpone.failure, reason = postpone.reason,
                due = coalesce(clock_timestamp() + postpone.delay * interval '1 s', 'infinity')
              WHERE fence = postpone.fence AND id = postpone.id AND state = 4
                -- The same failure again, whose answer was lost, does not end a later flight. A noted failure has counted.
                AND (attempts < postpone.attempts OR due IS NOT NULL)
              RETURNING queue, lane, origin INTO own_queue, own_lane, own_origin;
              IF NOT FOUND THEN
                RETURN late_result(postpone.fence, postpone.id, postpone.attempts::text);
              END IF;
              IF lane_failed(own_queue, own_lane, patience) THEN result := 2; END IF;
              IF rests IS NOT NULL AND own_origin IS NOT NULL THEN
                INSERT INTO origins AS o (queue, origin, rests_until)
                  VALUES (own_queue, own_origin, clock_timestamp() + rests * interval '1 s')
                ON CONFLICT (queue, origin) DO UPDATE SET rests_until = excluded.rests_until
                  WHERE o.rests_until IS NULL OR o.rests_until < excluded.rests_until;
              END IF;
              RETURN result;
            END $$;

            -- Makes a record a dead letter, which is a failure of its lane too. `pauses`: why its lane is paused with this.
            CREATE FUNCTION bury(fence bigint, id bigint, reason jsonb, patience float8, pauses text) RETURNS smallint
            LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE own_queue text; own_lane text; is_paused boolean := false;
            BEGIN
              UPDATE records SET attempts = attempts + 1 WHERE fence = bury.fence AND id = bury.id AND state = 4
              RETURNING queue, lane INTO own_queue, own_lane;
              IF NOT FOUND THEN RETURN late_result(bury.fence, bury.id, bury.reason::text); END IF;
              PERFORM bury_records(own_queue, ARRAY[bury.id], bury.reason);
              IF pauses IS NOT NULL THEN is_paused := pause_lane(own_queue, own_lane, pauses); END IF;
              RETURN CASE WHEN is_paused OR lane_failed(own_queue, own_lane, patience) THEN 2 ELSE 1 END;
            END $$;

            -- Records a failed attempt of a record that stays in flight. Until it is due, it is shown as waiting.
            CREATE FUNCTION note(fence bigint, id bigint, attempts int, refusals int, failure text, delay float8,
              reason int)
            RETURNS boolean LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            BEGIN
              UPDATE records SET attempts = note.attempts, refusals = note.refusals, failure = note.failure,
                due = clock_timestamp() + note.delay * interval '1 s', reason = note.reason
              WHERE fence = note.fence AND id = note.id AND state = 4;
              RETURN FOUND;
            END $$;

            -- Whether a record is still in flight under a lease. It ends a wait that was noted.
            CREATE FUNCTION may_send(fence bigint, id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE noted timestamptz;
            BEGIN
              SELECT due INTO noted FROM records WHERE fence = may_send.fence AND id = may_send.id AND state = 4;
              IF NOT FOUND OR noted IS NULL THEN RETURN FOUND; END IF;
              UPDATE records SET due = NULL, reason = 0 WHERE fence = may_send.fence AND id = may_send.id AND state = 4;
              RETURN FOUND;
            END $$;
            """#
    }
#endif
