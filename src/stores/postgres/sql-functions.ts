// SQL functions of a PostgreSQL store: each changes the queue in one call. migrations.ts lists what the stored names mean.

/** The functions of the first version. Times are in milliseconds of the database's clock, which all workers share. */
export const functions = `
CREATE FUNCTION fairlead.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- Adds the workflows of runs to the DBOS queue, by priority, then by age.
CREATE FUNCTION fairlead.enter(given bigint[]) RETURNS void LANGUAGE sql AS $$
  WITH sent AS (
    SELECT key, id || '#' || segment AS workflow, tenant, priority, version FROM fairlead.runs WHERE key = ANY (given)
  ), entered AS (
    INSERT INTO fairlead_dbos.workflow_status
      (workflow_uuid, status, name, queue_name, priority, queue_partition_key, application_version, created_at, updated_at,
       recovery_attempts, serialization, application_name)
    SELECT workflow, 'ENQUEUED', 'run', 'runs', greatest(0, least(2147483647, 1073741824 - round(priority * 1000)))::integer,
      tenant, version, key, fairlead.now_ms(), 0, 'portable_json', 'fairlead'
    FROM sent
  )
  INSERT INTO fairlead_dbos.workflow_input (workflow_uuid, inputs)
  SELECT workflow, json_build_object('positionalArgs', json_build_array(workflow), 'namedArgs', '{}'::json)::text FROM sent
$$;

-- Dispatches runs to DBOS: each gets a new workflow, with the next segment number.
CREATE FUNCTION fairlead.dispatch(given bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE fairlead.runs SET segment = segment + 1, dispatched = true WHERE key = ANY (given);
  PERFORM fairlead.enter(given);
END $$;

-- Adds runs, each once. A due run takes the slot of its session and is dispatched; if another run has the slot, the run stays queued.
CREATE FUNCTION fairlead.enqueue(given json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  due_now bigint[];
  added integer;
  now bigint := fairlead.now_ms();
BEGIN
  WITH placed AS (
    INSERT INTO fairlead.runs
      (id, words, kind, settings, session, tenant, priority, parent, queued, due, later, slot, dispatched, segment)
    SELECT id, words, kind, settings, session, tenant, priority, parent, now, coalesce(later, now), later,
      CASE WHEN coalesce(later, now) <= now THEN session END, coalesce(later, now) <= now, 1
    FROM json_to_recordset(given) AS run (ord integer, id text, words text, kind text, settings text, session text,
      tenant text, priority double precision, parent text, later bigint) ORDER BY ord
    ON CONFLICT DO NOTHING RETURNING key, slot
  )
  SELECT array_agg(key) FILTER (WHERE slot IS NOT NULL), count(*) INTO due_now, added FROM placed;
  IF added < json_array_length(given) THEN
    INSERT INTO fairlead.runs (id, words, kind, settings, session, tenant, priority, parent, queued, due, later)
    SELECT id, words, kind, settings, session, tenant, priority, parent, now, coalesce(later, now), later
    FROM json_to_recordset(given) AS run (ord integer, id text, words text, kind text, settings text, session text,
      tenant text, priority double precision, parent text, later bigint) ORDER BY ord
    ON CONFLICT (id) DO NOTHING;
  END IF;
  PERFORM fairlead.enter(due_now);
END $$;

-- Dispatches due runs; one run per session. NULL means all sessions. The run with the highest priority gets the slot of its session.
CREATE FUNCTION fairlead.admit(of_session text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  each record;
  count integer := 0;
BEGIN
  FOR each IN
    SELECT key, session FROM fairlead.runs AS run
    WHERE status = 'queued' AND NOT dispatched AND due <= fairlead.now_ms() AND (of_session IS NULL OR session = of_session)
      AND (slot IS NOT NULL OR NOT EXISTS (SELECT 1 FROM fairlead.runs AS other WHERE other.slot = run.session))
    ORDER BY priority DESC, key LIMIT 500 FOR UPDATE SKIP LOCKED
  LOOP
    BEGIN
      UPDATE fairlead.runs SET slot = session WHERE key = each.key;
      PERFORM fairlead.dispatch(ARRAY[each.key]);
      count := count + 1;
    EXCEPTION WHEN unique_violation THEN
      -- Another run has taken the slot meanwhile.
    END;
  END LOOP;
  RETURN count;
END $$;

-- Adds a message to the inbox of a session, once per idempotency key, and returns its position.
CREATE FUNCTION fairlead.put_letter(to_session text, given_mark text, given text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  found bigint;
BEGIN
  -- Messages of a session are committed in the order of their positions, so that a reader skips none.
  PERFORM pg_advisory_xact_lock(hashtextextended(to_session, 470));
  INSERT INTO fairlead.letters (session, time, mark, letter) VALUES (to_session, fairlead.now_ms(), given_mark, given)
  ON CONFLICT (mark) DO NOTHING RETURNING place INTO found;
  IF found IS NULL THEN SELECT place INTO found FROM fairlead.letters WHERE mark = given_mark; END IF;
  RETURN found;
END $$;

-- Queues a run again, to be started from a time on; dispatches it if it is due.
CREATE FUNCTION fairlead.requeue(given bigint, at bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  is_due boolean;
BEGIN
  UPDATE fairlead.runs SET status = 'queued', due = greatest(at, coalesce(later, 0)), holder = NULL, claim = NULL,
    questions = NULL, dispatched = false
  WHERE key = given RETURNING due <= fairlead.now_ms() INTO is_due;
  IF is_due THEN PERFORM fairlead.dispatch(ARRAY[given]); END IF;
END $$;

-- Queues a waiting run again. A running run is marked, and queued again when it would wait.
CREATE FUNCTION fairlead.wake(given text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  run fairlead.runs;
BEGIN
  SELECT * INTO run FROM fairlead.runs WHERE id = given FOR UPDATE;
  IF run.status = 'resting' THEN PERFORM fairlead.requeue(run.key, fairlead.now_ms());
  ELSIF run.status = 'running' THEN UPDATE fairlead.runs SET woken = 1 WHERE key = run.key; END IF;
END $$;

-- Ends a run, dispatches the next run of its session, and sends a message to its parent run.
CREATE FUNCTION fairlead.end_run(run fairlead.runs, given text, why text, cost double precision, used double precision)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  above fairlead.runs;
BEGIN
  UPDATE fairlead.runs SET status = 'ended', ended = fairlead.now_ms(), holder = NULL, claim = NULL, questions = NULL,
    outcome = given, reason = why, usd = cost, tokens = used, slot = NULL, dispatched = false
  WHERE key = run.key;
  PERFORM fairlead.admit(run.session) FROM fairlead.runs
    WHERE session = run.session AND status = 'queued' AND NOT dispatched LIMIT 1;
  IF run.parent IS NULL THEN RETURN; END IF;
  SELECT * INTO above FROM fairlead.runs WHERE id = run.parent AND status <> 'ended';
  IF above.key IS NULL THEN RETURN; END IF;
  PERFORM fairlead.put_letter(above.session, 'ended ' || run.id, json_build_object('type', 'ended', 'run', run.id)::text);
  PERFORM fairlead.wake(above.id);
END $$;

-- Writes the result of a run, if this worker still holds it.
CREATE FUNCTION fairlead.settle(given bigint, by_holder text, attempt integer, how text, said text, why text,
  cost double precision, used double precision, wait bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  run fairlead.runs;
BEGIN
  SELECT * INTO run FROM fairlead.runs
    WHERE key = given AND status = 'running' AND holder = by_holder AND attempts = attempt FOR UPDATE;
  IF run.key IS NULL THEN RETURN false; END IF;
  -- If unread messages arrived, the run is queued again instead of ended. Messages that were read are deleted.
  IF how = 'ended' AND NOT (run.woken = 1 AND EXISTS (SELECT 1 FROM fairlead.letters WHERE session = run.session
    AND letter ~ '"type":"(prompt|steer|follow-up)"')) THEN PERFORM fairlead.end_run(run, said, why, cost, used); RETURN true; END IF;
  UPDATE fairlead.runs SET failures = CASE how WHEN 'failed' THEN failures + 1 ELSE 0 END WHERE key = given;
  IF how <> 'resting' OR run.woken = 1 THEN PERFORM fairlead.requeue(given, fairlead.now_ms() + wait); RETURN true; END IF;
  UPDATE fairlead.runs SET status = 'resting', holder = NULL, claim = NULL, questions = said, dispatched = false WHERE key = given;
  RETURN true;
END $$;

-- Starts the runs whose workflows DBOS has given to a claim; none unless the kill switch is known to be off.
CREATE FUNCTION fairlead.begin(ids text[], segments integer[], by_claim text, by_worker text, by_holder text, of_version text)
RETURNS SETOF fairlead.runs LANGUAGE sql AS $$
  UPDATE fairlead.runs AS run SET
    status = 'running', woken = 0, worker = by_worker, holder = by_holder, claim = by_claim, questions = NULL,
    attempts = attempts + (run.claim IS DISTINCT FROM by_claim)::integer,
    failures = failures + (run.status = 'running' AND run.claim IS DISTINCT FROM by_claim)::integer,
    started = coalesce(started, greatest(queued, workflow.started_at_epoch_ms)), version = coalesce(version, of_version)
  FROM unnest(ids, segments) AS wanted (id, segment)
    JOIN fairlead_dbos.workflow_status AS workflow ON workflow.workflow_uuid = wanted.id || '#' || wanted.segment
  WHERE run.id = wanted.id AND run.segment = wanted.segment AND run.dispatched AND run.status IN ('queued', 'running')
    AND workflow.owner_xid = by_claim AND workflow.status = 'PENDING'
    AND EXISTS (SELECT 1 FROM fairlead.control WHERE name = 'standing' AND value ~ '^[{]"stopped":false[,}]')
  RETURNING run.*
$$;

-- Returns claimed workflows that were not started to the DBOS queue, and deletes those that their run no longer refers to.
CREATE FUNCTION fairlead.unclaim(workflows text[], by_holder text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM fairlead_dbos.workflow_status AS workflow
    WHERE workflow_uuid = ANY (workflows) AND executor_id = by_holder AND status = 'PENDING' AND NOT EXISTS (
      SELECT 1 FROM fairlead.runs AS run WHERE run.dispatched AND run.id || '#' || run.segment = workflow_uuid
        AND run.id = regexp_replace(workflow_uuid, '#[0-9]+$', ''));
  UPDATE fairlead_dbos.workflow_status SET status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL,
    updated_at = fairlead.now_ms(), application_version = run.version
  FROM fairlead.runs AS run
  WHERE workflow_uuid = ANY (workflows) AND executor_id = by_holder AND workflow_status.status = 'PENDING'
    AND run.id = regexp_replace(workflow_uuid, '#[0-9]+$', '');
END $$;

-- Takes over the sessions and runs of a lost worker. Its sessions are fenced; its runs return to the DBOS queue, whatever their version.
CREATE FUNCTION fairlead.bury(gone text, given_up text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  run fairlead.runs;
BEGIN
  DELETE FROM fairlead.presences WHERE token = gone;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE fairlead.sessions SET fence = fence + 1, holder = NULL, holder_name = NULL WHERE holder = gone;
  PERFORM fairlead.unclaim(ARRAY(SELECT workflow_uuid FROM fairlead_dbos.workflow_status
    WHERE executor_id = gone AND status = 'PENDING'), gone);
  FOR run IN SELECT * FROM fairlead.runs WHERE status = 'running' AND holder = gone FOR UPDATE LOOP
    IF run.failures + 1 >= 10 THEN
      PERFORM fairlead.end_run(run, given_up, 'provider-error', 0, 0);
    ELSIF EXISTS (SELECT 1 FROM fairlead_dbos.workflow_status
        WHERE workflow_uuid = run.id || '#' || run.segment AND status = 'ENQUEUED') THEN
      UPDATE fairlead.runs SET status = 'queued', holder = NULL, claim = NULL, failures = failures + 1 WHERE key = run.key;
    ELSE
      UPDATE fairlead.runs SET failures = failures + 1 WHERE key = run.key;
      PERFORM fairlead.requeue(run.key, fairlead.now_ms());
    END IF;
  END LOOP;
  RETURN true;
END $$;

-- Ends a run that no worker holds; sends a cancel message to a running run.
CREATE FUNCTION fairlead.cancel(given text, given_mark text, said text) RETURNS SETOF fairlead.runs LANGUAGE plpgsql AS $$
DECLARE
  run fairlead.runs;
BEGIN
  SELECT * INTO run FROM fairlead.runs WHERE id = given FOR UPDATE;
  IF run.status = 'running' THEN
    PERFORM fairlead.put_letter(run.session, given_mark, json_build_object('type', 'cancel', 'run', run.id)::text);
    UPDATE fairlead.runs SET woken = 1 WHERE key = run.key;
  ELSIF run.status <> 'ended' THEN
    DELETE FROM fairlead_dbos.workflow_status WHERE workflow_uuid = run.id || '#' || run.segment AND status = 'ENQUEUED';
    PERFORM fairlead.end_run(run, said, 'cancelled', 0, 0);
  END IF;
  RETURN QUERY SELECT * FROM fairlead.runs WHERE id = given;
END $$;

-- Whether an amount fits the budget of a tenant. The caller has locked the row of the budget. Volatile, so that it sees reservations committed after the statement began.
CREATE FUNCTION fairlead.has_room(of_tenant text, since text, more_usd double precision, more_tokens double precision,
  most_usd double precision, most_tokens double precision) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  used record;
BEGIN
  SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(tokens), 0) AS tokens INTO used FROM (
    SELECT usd, tokens FROM fairlead.spendings WHERE tenant = of_tenant AND day >= since
    UNION ALL SELECT usd, tokens FROM fairlead.holds WHERE tenant = of_tenant AND day >= since) AS each;
  RETURN (most_usd IS NULL OR used.usd + more_usd <= most_usd + 1e-9)
    AND (most_tokens IS NULL OR used.tokens + more_tokens <= most_tokens);
END $$;
`;

/** The functions that count lost workers. */
export const workerLossFunctions = `
-- Writes the result of a run, if this worker still holds it.
CREATE OR REPLACE FUNCTION fairlead.settle(given bigint, by_holder text, attempt integer, how text, said text, why text,
  cost double precision, used double precision, wait bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  run fairlead.runs;
BEGIN
  SELECT * INTO run FROM fairlead.runs
    WHERE key = given AND status = 'running' AND holder = by_holder AND attempts = attempt FOR UPDATE;
  IF run.key IS NULL THEN RETURN false; END IF;
  -- If unread messages arrived, the run is queued again instead of ended. Messages that were read are deleted.
  IF how = 'ended' AND NOT (run.woken = 1 AND EXISTS (SELECT 1 FROM fairlead.letters WHERE session = run.session
    AND letter ~ '"type":"(prompt|steer|follow-up)"')) THEN PERFORM fairlead.end_run(run, said, why, cost, used); RETURN true; END IF;
  UPDATE fairlead.runs SET failures = CASE how WHEN 'failed' THEN failures + 1 ELSE 0 END, losses = 0 WHERE key = given;
  IF how <> 'resting' OR run.woken = 1 THEN PERFORM fairlead.requeue(given, fairlead.now_ms() + wait); RETURN true; END IF;
  UPDATE fairlead.runs SET status = 'resting', holder = NULL, claim = NULL, questions = said, dispatched = false WHERE key = given;
  RETURN true;
END $$;

-- Takes over the sessions and runs of a lost worker. Its sessions are fenced; its runs return to the DBOS queue, whatever their version. A run that lost too many workers ends.
CREATE FUNCTION fairlead.bury(gone text, given_up text, max_losses integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  run fairlead.runs;
BEGIN
  DELETE FROM fairlead.presences WHERE token = gone;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE fairlead.sessions SET fence = fence + 1, holder = NULL, holder_name = NULL WHERE holder = gone;
  PERFORM fairlead.unclaim(ARRAY(SELECT workflow_uuid FROM fairlead_dbos.workflow_status
    WHERE executor_id = gone AND status = 'PENDING'), gone);
  FOR run IN SELECT * FROM fairlead.runs WHERE status = 'running' AND holder = gone FOR UPDATE LOOP
    IF run.losses + 1 >= max_losses THEN
      PERFORM fairlead.end_run(run, given_up, 'provider-error', 0, 0);
    ELSIF EXISTS (SELECT 1 FROM fairlead_dbos.workflow_status
        WHERE workflow_uuid = run.id || '#' || run.segment AND status = 'ENQUEUED') THEN
      UPDATE fairlead.runs SET status = 'queued', holder = NULL, claim = NULL, losses = losses + 1 WHERE key = run.key;
    ELSE
      UPDATE fairlead.runs SET losses = losses + 1 WHERE key = run.key;
      PERFORM fairlead.requeue(run.key, fairlead.now_ms());
    END IF;
  END LOOP;
  RETURN true;
END $$;
`;
