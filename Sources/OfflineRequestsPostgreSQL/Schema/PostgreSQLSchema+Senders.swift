#if PostgreSQL
    extension PostgreSQLSchema {
        /// The leases of senders.
        ///
        /// A sender's number fences off what it writes late: each of its changes is for a record that is in flight with this
        /// number. Only the database's clock counts.
        static let senders = #"""
            -- Wakes senders that wait for work. A notification serializes commits, so it is sent only if one is idle.
            CREATE FUNCTION call_senders(queue text) RETURNS void LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            BEGIN
              IF EXISTS (SELECT FROM senders WHERE queue = call_senders.queue AND is_idle) THEN
                PERFORM pg_notify('request_operations', call_senders.queue);
              END IF;
            END $$;

            -- Ends what senders have in flight, but for `kept`. A noted wait goes on. Returns how many records there were.
            CREATE FUNCTION release(fences bigint[], kept bigint[]) RETURNS int LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE count int;
            BEGIN
              PERFORM FROM records WHERE fence = ANY (release.fences) AND state = 4 AND id <> ALL (release.kept)
                ORDER BY id FOR UPDATE;
              UPDATE records SET
                state = CASE WHEN due > clock_timestamp() THEN 3 ELSE 2 END,
                reason = CASE WHEN due > clock_timestamp() THEN reason ELSE 0 END,
                due = CASE WHEN due > clock_timestamp() THEN due END
              WHERE fence = ANY (release.fences) AND state = 4 AND id <> ALL (release.kept);
              GET DIAGNOSTICS count = ROW_COUNT;
              RETURN count;
            END $$;

            -- Takes over from senders whose lease has run out.
            CREATE FUNCTION reap(queue text, besides bigint) RETURNS void LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE dead bigint[];
            BEGIN
              IF NOT EXISTS (SELECT FROM senders
                WHERE queue = reap.queue AND lease_until < clock_timestamp() AND fence <> reap.besides)
              THEN RETURN; END IF;
              WITH silent AS MATERIALIZED (
                SELECT fence FROM senders
                WHERE queue = reap.queue AND lease_until < clock_timestamp() AND fence <> reap.besides
                FOR UPDATE SKIP LOCKED
              ), gone AS (DELETE FROM senders s USING silent WHERE s.fence = silent.fence RETURNING s.fence)
              SELECT array_agg(fence) INTO dead FROM gone;
              IF dead IS NOT NULL THEN
                PERFORM release(dead, '{}');
                PERFORM call_senders(reap.queue);
              END IF;
            END $$;

            -- Makes a sender with a lease of so many seconds. Returns its number.
            CREATE FUNCTION enter(queue text, lease float8) RETURNS bigint LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE number bigint;
            BEGIN
              INSERT INTO queues VALUES (enter.queue) ON CONFLICT DO NOTHING;
              INSERT INTO senders (queue, lease_until) VALUES (enter.queue, clock_timestamp() + lease * interval '1 s')
                RETURNING fence INTO number;
              RETURN number;
            END $$;

            -- Ends a lease. What was in flight under it can be claimed at once.
            CREATE FUNCTION leave(fence bigint) RETURNS void LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE left_queue text;
            BEGIN
              DELETE FROM senders WHERE fence = leave.fence RETURNING queue INTO left_queue;
              IF left_queue IS NOT NULL AND release(ARRAY[leave.fence], '{}') > 0 THEN
                PERFORM call_senders(left_queue);
              END IF;
            END $$;

            -- Renews a lease. Returns what is in flight under it. Error RO001: the lease was lost.
            CREATE FUNCTION beat(fence bigint, lease float8) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
            #variable_conflict use_column
            DECLARE own_queue text;
            BEGIN
              SELECT queue INTO own_queue FROM senders WHERE fence = beat.fence;
              -- It waits for records, so it comes before the lock of the own row.
              IF FOUND THEN PERFORM reap(own_queue, beat.fence); END IF;
              UPDATE senders SET lease_until = clock_timestamp() + beat.lease * interval '1 s' WHERE fence = beat.fence;
              IF NOT FOUND THEN RAISE EXCEPTION 'the lease % was lost', beat.fence USING ERRCODE = 'RO001'; END IF;
              RETURN QUERY SELECT id FROM records WHERE fence = beat.fence AND state = 4;
            END $$;

            -- Ends what is in flight under a lease, but for what the sender delivers: it is left from a claim whose answer was
            -- lost. Returns how many records there were.
            CREATE FUNCTION take_back(fence bigint, delivering bigint[]) RETURNS int LANGUAGE plpgsql AS $$
            BEGIN
              RETURN release(ARRAY[take_back.fence], take_back.delivering);
            END $$;
            """#
    }
#endif
