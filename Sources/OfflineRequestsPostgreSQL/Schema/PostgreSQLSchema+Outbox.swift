#if PostgreSQL
    extension PostgreSQLSchema {
        /// What any program may call in the transaction that writes its own rows, in any language.
        static let outbox = #"""
            CREATE FUNCTION refuse(argument text, problem text) RETURNS void LANGUAGE plpgsql AS $$
            BEGIN
              RAISE EXCEPTION '%: %', argument, problem USING ERRCODE = 'invalid_parameter_value';
            END $$;

            -- Scheme, host and port of a URL, in lower case, as Swift finds them. Error 22023: the URL cannot be requested.
            CREATE FUNCTION origin_of(url text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
            DECLARE parts text[];
            BEGIN
              parts := regexp_match(url,
                '^(https?)://(?:[^/?#@[:space:]]*@)?(\[[0-9a-f:.]+\]|[a-z0-9._-]{1,255})(?::([0-9]{0,9}))?'
                || '(?:[/?#][!-~]*)?$', 'i');
              IF parts IS NULL THEN
                PERFORM refuse('url', 'it must be a whole http or https URL of ASCII characters without spaces');
              ELSIF parts[3] <> '' AND parts[3]::int > 65535 THEN
                PERFORM refuse('url', 'its port is above 65535');
              END IF;
              RETURN lower(parts[1]) || '://' || trim(both '[]' FROM lower(parts[2])) || ':'
                || coalesce(nullif(parts[3], '')::int::text, '');
            END $$;

            CREATE FUNCTION check_text(argument text, value text, shortest int, longest int) RETURNS void
            LANGUAGE plpgsql AS $$
            BEGIN
              IF octet_length(value) NOT BETWEEN shortest AND longest THEN
                PERFORM refuse(argument, format('it must have %s to %s bytes', shortest, longest));
              END IF;
            END $$;

            -- Adds a record in the transaction of the caller: a roll-back leaves nothing, a commit is delivered. Returns its id.
            --
            -- Give `method` and `url` of a request, or the name of a `message` instead, with its payload as `body`. `policy` says
            -- what becomes of records with the same `unique_key` that have no outcome yet: 'replace' removes those that are not
            -- in flight, 'keep' returns the oldest instead of adding one, 'append' leaves them. With 'replace' and 'keep',
            -- transactions with the same key wait for each other, and must be READ COMMITTED: others do not see what was
            -- committed meanwhile. Error 22023 names an argument that cannot be used.
            CREATE FUNCTION add(queue text, method text, url text, headers jsonb DEFAULT '{}', body bytea DEFAULT NULL,
              lane text DEFAULT '', unique_key text DEFAULT NULL, not_before timestamptz DEFAULT NULL,
              expires timestamptz DEFAULT NULL, tag text DEFAULT NULL, priority int DEFAULT 0,
              policy text DEFAULT 'replace', message text DEFAULT NULL, idempotency_key text DEFAULT NULL,
              timeout float8 DEFAULT NULL, user_info bytea DEFAULT NULL, constraints text[] DEFAULT '{reachable}')
            RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
            #variable_conflict use_column
            DECLARE origin text; field record; rule smallint; new_id bigint;
            BEGIN
              IF queue IS NULL THEN PERFORM refuse('queue', 'it is null'); END IF;
              PERFORM check_text('queue', queue, 1, 200);
              IF message IS NULL THEN
                IF method IS NULL OR method !~ '^[!#$%&''*+.^_`|~0-9A-Za-z-]+$' THEN
                  PERFORM refuse('method', 'it must be the name of a method, such as POST');
                END IF;
                IF url IS NULL THEN PERFORM refuse('url', 'it is null, and there is no message'); END IF;
                origin := origin_of(url);
              ELSE
                PERFORM check_text('message', message, 1, 1000);
                IF method IS NOT NULL THEN PERFORM refuse('method', 'a message has none; pass null'); END IF;
                IF url IS NOT NULL THEN PERFORM refuse('url', 'a message has none; pass null'); END IF;
              END IF;
              IF headers IS NULL OR jsonb_typeof(headers) <> 'object' THEN
                PERFORM refuse('headers', 'it must be a JSON object');
              ELSIF message IS NOT NULL AND headers <> '{}' THEN
                PERFORM refuse('headers', 'a message has none');
              ELSIF headers <> '{}' THEN
                FOR field IN SELECT h.key, h.value FROM jsonb_each(headers) AS h (key, value) LOOP
                  IF field.key !~ '^[!#$%&''*+.^_`|~0-9A-Za-z-]+$' THEN
                    PERFORM refuse('headers', format('%L is no name of a field', field.key));
                  ELSIF jsonb_typeof(field.value) <> 'string' THEN
                    PERFORM refuse('headers', format('the value of %L must be a string', field.key));
                  ELSIF field.value #>> '{}' ~ '[\x01-\x08\x0a-\x1f\x7f]' THEN
                    PERFORM refuse('headers', format('the value of %L has a control character', field.key));
                  END IF;
                END LOOP;
              END IF;
              IF lane IS NULL THEN PERFORM refuse('lane', 'it is null; that of records without one is empty'); END IF;
              PERFORM check_text('lane', lane, 0, 1000);
              PERFORM check_text('unique_key', unique_key, 1, 1000);
              PERFORM check_text('tag', tag, 0, 1000);
              rule := CASE policy WHEN 'append' THEN 0 WHEN 'keep' THEN 1 WHEN 'replace' THEN 2 END;
              IF rule IS NULL THEN PERFORM refuse('policy', 'it must be replace, keep or append'); END IF;
              IF unique_key IS NOT NULL AND rule > 0
                AND current_setting('transaction_isolation') IN ('repeatable read', 'serializable')
              THEN
                PERFORM refuse('unique_key', format('a %s transaction does not see what others have committed; '
                  || 'use READ COMMITTED, or the policy append', upper(current_setting('transaction_isolation'))));
              END IF;
              IF priority IS NULL THEN PERFORM refuse('priority', 'it is null'); END IF;
              IF NOT isfinite(not_before) THEN PERFORM refuse('not_before', 'it must be finite'); END IF;
              IF NOT isfinite(expires) THEN PERFORM refuse('expires', 'it must be finite; null means never'); END IF;
              IF timeout NOT BETWEEN 1e-3 AND 1e9 THEN
                PERFORM refuse('timeout', 'it must be a positive number of seconds');
              END IF;
              IF idempotency_key !~ '^[!-~]{1,255}$' THEN
                PERFORM refuse('idempotency_key', 'it must have 1 to 255 visible ASCII characters');
              END IF;
              IF constraints IS NULL OR array_ndims(constraints) > 1 OR array_position(constraints, NULL) IS NOT NULL
                OR array_to_string(constraints, '') LIKE '%' || chr(31) || '%' OR '' = ANY (constraints)
              THEN PERFORM refuse('constraints', 'it must be an array of names'); END IF;
              SELECT a.id INTO new_id FROM add_records(queue, ARRAY[lane], ARRAY[tag], ARRAY[unique_key],
                ARRAY[CASE WHEN unique_key IS NULL THEN 0 ELSE rule END::smallint], NULL, NULL, ARRAY[priority],
                ARRAY[extract(epoch FROM not_before)::float8], ARRAY[extract(epoch FROM expires)::float8],
                ARRAY[message], ARRAY[method], ARRAY[url], ARRAY[origin],
                  ARRAY[CASE WHEN message IS NULL THEN headers::text END],
                ARRAY[timeout], ARRAY[array_to_string(constraints, chr(31))], ARRAY[user_info], ARRAY[idempotency_key],
                ARRAY[body], NULL, NULL, false, 1) AS a WHERE a.kind < 2;
              RETURN new_id;
            END $$;

            -- Removes a record in the transaction of the caller. Returns false if there is none, or if it is in flight.
            CREATE FUNCTION cancel(queue text, id bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
            #variable_conflict use_column
            BEGIN
              RETURN lock_unsent(cancel.queue, cancel.id, true)
                AND cardinality(end_records(cancel.queue, ARRAY[cancel.id], '{"removed": {}}', 1)) = 1;
            END $$;

            -- Makes a dead letter pending again. Returns false if there is no such dead letter.
            CREATE FUNCTION retry(queue text, id bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
            #variable_conflict use_column
            BEGIN
              UPDATE records SET state = 0, reason = 0, due = NULL, attempts = 0, refusals = 0, ending = NULL,
                expires = CASE WHEN expires > clock_timestamp() THEN expires END
              WHERE queue = retry.queue AND id = retry.id AND state = 5;
              IF NOT FOUND THEN RETURN false; END IF;
              PERFORM call_senders(retry.queue);
              RETURN true;
            END $$;

            -- Lets a role add, cancel and retry records, and nothing else.
            CREATE FUNCTION grant_add(role name) RETURNS void LANGUAGE plpgsql AS $$
            BEGIN
              EXECUTE format('GRANT USAGE ON SCHEMA request_operations TO %I', role);
              EXECUTE format('GRANT EXECUTE ON FUNCTION add, cancel, retry TO %I', role);
            END $$;

            -- Lets a role send and manage records, but not migrate. After a migration, it is called again.
            CREATE FUNCTION grant_send(role name) RETURNS void LANGUAGE plpgsql AS $$
            BEGIN
              EXECUTE format('GRANT USAGE ON SCHEMA request_operations TO %I', role);
              EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA request_operations TO %I',
                role);
              EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA request_operations TO %I', role);
            END $$;
            """#
    }
#endif
