// SQL functions of a PostgreSQL store: each changes the rows of the queue in one statement.

/** The functions of the first version. Times are in milliseconds of the database's clock, which all workers share. */
export const functions = `
CREATE FUNCTION fairlead.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- Enters the workflows of runs into DBOS's queue, in the order of priority, then of age.
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

-- Hands runs to DBOS again: a workflow each, as the next segment of its run.
CREATE FUNCTION fairlead.dispatch(given bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE fairlead.runs SET segment = segment + 1, dispatched = true WHERE key = ANY (given);
  PERFORM fairlead.enter(given);
END $$;

-- Adds runs, each once. One that is due takes the slot of its session and goes to DBOS; where that is taken, it waits.
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

-- Hands on what has fallen due, of one session or of all; of those that wait for a session the most urgent gets it.
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
      -- Another run was quicker.
    END;
  END LOOP;
  RETURN count;
END $$;

CREATE FUNCTION fairlead.put_letter(to_session text, given_mark text, given text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  found bigint;
BEGIN
  -- Letters of a session become visible in the order of their places, so that none is passed over.
  PERFORM pg_advisory_xact_lock(hashtextextended(to_session, 470));
  INSERT INTO fairlead.letters (session, time, mark, letter) VALUES (to_session, fairlead.now_ms(), given_mark, given)
  ON CONFLICT (mark) DO NOTHING RETURNING place INTO found;
  IF found IS NULL THEN SELECT place INTO found FROM fairlead.letters WHERE mark = given_mark; END IF;
  RETURN found;
END $$;

CREATE FUNCTION fairlead.requeue(given bigint, at bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  is_due boolean;
BEGIN
  UPDATE fairlead.runs SET status = 'queued', due = greatest(at, coalesce(later, 0)), holder = NULL, claim = NULL,
    questions = NULL, dispatched = false
  WHERE key = given RETURNING due <= fairlead.now_ms() INTO is_due;
  IF is_due THEN PERFORM fairlead.dispatch(ARRAY[given]); END IF;
END $$;

CREATE FUNCTION fairlead.wake(given text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  run fairlead.runs;
BEGIN
  SELECT * INTO run FROM fairlead.runs WHERE id = given FOR UPDATE;
  IF run.status = 'resting' THEN PERFORM fairlead.requeue(run.key, fairlead.now_ms());
  ELSIF run.status = 'running' THEN UPDATE fairlead.runs SET woken = 1 WHERE key = run.key; END IF;
END $$;

-- Ends a run, tells the run that waits for it, and gives its session to the next.
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

-- What came of a run; nothing where it is no longer this worker's.
CREATE FUNCTION fairlead.settle(given bigint, by_holder text, attempt integer, how text, said text, why text,
  cost double precision, used double precision, wait bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  run fairlead.runs;
BEGIN
  SELECT * INTO run FROM fairlead.runs
    WHERE key = given AND status = 'running' AND holder = by_holder AND attempts = attempt FOR UPDATE;
  IF run.key IS NULL THEN RETURN false; END IF;
  -- Words that came while it ended are read before it does; what was read is cleared.
  IF how = 'ended' AND NOT (run.woken = 1 AND EXISTS (SELECT 1 FROM fairlead.letters WHERE session = run.session
    AND letter ~ '"type":"(prompt|steer|follow-up)"')) THEN PERFORM fairlead.end_run(run, said, why, cost, used); RETURN true; END IF;
  UPDATE fairlead.runs SET failures = CASE how WHEN 'failed' THEN failures + 1 ELSE 0 END WHERE key = given;
  IF how <> 'resting' OR run.woken = 1 THEN PERFORM fairlead.requeue(given, fairlead.now_ms() + wait); RETURN true; END IF;
  UPDATE fairlead.runs SET status = 'resting', holder = NULL, claim = NULL, questions = said, dispatched = false WHERE key = given;
  RETURN true;
END $$;

-- Begins the runs whose workflows DBOS has given to a claim; none while the kill-switch is not off for sure.
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

-- Gives workflows back to DBOS's queue that were claimed and not begun, and forgets those whose run does not want them.
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

-- Takes what a worker held that is gone: its sessions are fenced, its runs go back to DBOS's queue, whatever their version.
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

-- Ends a run that no worker holds; a running one receives a message.
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

-- Whether a tenant may use so much more. Called under the lock on its allowance; volatile, so that it sees what others held just before.
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
