// Migrations of a PostgreSQL store: the steps from one version of its tables to the next. A released step is never changed.

/*
 * Stored name = term of the code (GLOSSARY.md). Stored names stay, because a released step is never changed.
 *
 * presences = process leases
 * presences.holder = lock owner (`LockOwner`) as JSON
 * presences.seen = last heartbeat
 * presences.lease = length of the lease in milliseconds
 * sessions.key = row number of a session; events.session refers to it
 * sessions.begun = time at which the session was created
 * sessions.changed = time of the last event
 * sessions.seq = seq of the last event
 * sessions.head = id of the last event
 * sessions.fence = fencing number
 * sessions.holder = lease token of the writer
 * sessions.holder_name = name of the writer
 * sessions.tenant = tenant that the session belongs to; NULL if none
 * sessions.opening = idempotency key of the call that opened the session
 * events.jump = seq of the parent, if the parent is not the previous event
 * events.epoch = set if the event starts an epoch with a baseline
 * runs.words = prompt
 * runs.status 'resting' = status `waiting`
 * runs.woken = 1 if a message arrived while the run was running
 * runs.queued = time at which the run was enqueued
 * runs.due = earliest time of the next start
 * runs.later = `notBefore`
 * runs.holder = lease token of the worker
 * runs.questions = pending approvals
 * runs.slot = session of a dispatched run until it ends; unique, so that a session has one started run
 * runs.dispatched = true while DBOS has a workflow for the run
 * runs.segment = number of the current workflow of the run; the workflow id is `<run id>#<segment>`
 * runs.claim = token of the claim that started the run
 * runs.outcome, field `handed` = `clientToolCalls`
 * schedules.run, field `words` = prompt
 * schedules.next = next time at which the schedule is due
 * letters = inbox messages
 * letters.place = position of a message
 * letters.letter = message as JSON; its field `words` = `text`
 * letters.mark = idempotency key of a message
 * control 'standing' = kill switch; its field `why` = `reason`
 * allowances = tenant budgets
 * spendings = amounts spent, by tenant and day
 * holds = reservations
 * workers.entry = worker as JSON; its fields `begun` and `about` = `startedAt` and `info`
 * workers.seen = `lastSeenAt`
 * index runs_open = runs that have not ended
 * index runs_waiting = queued runs that are not dispatched
 * index runs_begun = queued runs that a version has started
 * function enter = add workflows to the DBOS queue
 * function dispatch = create the next workflow of runs
 * function enqueue = add runs
 * function admit = dispatch due runs
 * function put_letter = send an inbox message
 * function requeue = queue a run again
 * function wake = queue a waiting run again
 * function end_run = end a run
 * function settle = write the result of a run; `how`, `said`, `why` and `wait` = transition, payload, reason and delay
 * function settle, `how` 'left' = settlement `released`
 * function begin = start claimed runs
 * function unclaim = release claimed workflows
 * function bury = take over from an expired process lease
 * function cancel = cancel a run
 * function has_room = whether a budget allows an amount
 * function hold = reserve amounts
 */

import { functions, workerLossFunctions } from './sql-functions.ts';

/** The schemas of the store and of DBOS. The tables of DBOS are migrated first, because a step may use them. */
export const schemas = { store: 'fairlead', dbos: 'fairlead_dbos' } as const;

const initialSchema = `
CREATE TABLE fairlead.presences (
  token text PRIMARY KEY,
  holder text NOT NULL,
  seen timestamptz NOT NULL DEFAULT clock_timestamp(),
  lease integer NOT NULL
);

CREATE TABLE fairlead.sessions (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session text NOT NULL UNIQUE,
  name text,
  begun text NOT NULL,
  changed text NOT NULL,
  seq bigint NOT NULL DEFAULT 0,
  head text,
  fence bigint NOT NULL DEFAULT 0,
  holder text,
  holder_name text,
  opening text
) WITH (fillfactor = 70);
CREATE INDEX sessions_changed ON fairlead.sessions (changed, key);
CREATE INDEX sessions_holder ON fairlead.sessions (holder) WHERE holder IS NOT NULL;

CREATE TABLE fairlead.events (
  session bigint NOT NULL,
  seq bigint NOT NULL,
  id text NOT NULL,
  parent text,
  jump bigint,
  epoch boolean,
  time text NOT NULL,
  fact text NOT NULL,
  PRIMARY KEY (session, seq)
);
CREATE INDEX events_jump ON fairlead.events (session, seq) WHERE jump IS NOT NULL;
CREATE INDEX events_epoch ON fairlead.events (session, seq) WHERE epoch;

-- A run has the slot of its session from its first dispatch to DBOS until it has ended: a session has one started run at a time.
-- A run is dispatched while DBOS has a workflow for it; the workflow id is the run id and the segment number.
CREATE TABLE fairlead.runs (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  words text NOT NULL,
  kind text NOT NULL,
  settings text NOT NULL,
  session text NOT NULL,
  tenant text NOT NULL,
  priority double precision NOT NULL,
  parent text,
  status text NOT NULL DEFAULT 'queued',
  attempts integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  woken integer NOT NULL DEFAULT 0,
  queued bigint NOT NULL,
  due bigint NOT NULL,
  later bigint,
  started bigint,
  ended bigint,
  worker text,
  holder text,
  version text,
  questions text,
  reason text,
  usd double precision,
  tokens double precision,
  outcome text,
  slot text UNIQUE,
  dispatched boolean NOT NULL DEFAULT false,
  segment integer NOT NULL DEFAULT 0,
  claim text
) WITH (fillfactor = 60);
CREATE INDEX runs_queued ON fairlead.runs (due) WHERE status = 'queued' AND NOT dispatched;
CREATE INDEX runs_open ON fairlead.runs (status, key) WHERE status <> 'ended';
CREATE INDEX runs_waiting ON fairlead.runs (session) WHERE status = 'queued' AND NOT dispatched;
CREATE INDEX runs_session ON fairlead.runs (session, key);
CREATE INDEX runs_parent ON fairlead.runs (parent, key) WHERE parent IS NOT NULL;
CREATE INDEX runs_ended ON fairlead.runs (ended) WHERE ended IS NOT NULL;

CREATE TABLE fairlead.schedules (
  name text PRIMARY KEY,
  cron text NOT NULL,
  run text NOT NULL,
  next bigint NOT NULL
);

CREATE TABLE fairlead.letters (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session text NOT NULL,
  time bigint NOT NULL,
  mark text NOT NULL UNIQUE,
  letter text NOT NULL
);
CREATE INDEX letters_session ON fairlead.letters (session, place);

CREATE TABLE fairlead.control (name text PRIMARY KEY, value text NOT NULL);
INSERT INTO fairlead.control (name, value) VALUES ('standing', '{"stopped":false}'), ('limits', '{}');

CREATE TABLE fairlead.allowances (
  tenant text PRIMARY KEY,
  period text NOT NULL,
  usd double precision,
  tokens double precision
);
CREATE TABLE fairlead.spendings (
  tenant text NOT NULL,
  day text NOT NULL,
  usd double precision NOT NULL,
  tokens double precision NOT NULL,
  PRIMARY KEY (tenant, day)
);
CREATE TABLE fairlead.holds (
  tenant text NOT NULL,
  id text NOT NULL,
  day text NOT NULL,
  usd double precision NOT NULL,
  tokens double precision NOT NULL,
  PRIMARY KEY (tenant, id)
);

CREATE TABLE fairlead.workers (worker text PRIMARY KEY, entry text NOT NULL, seen bigint NOT NULL);
`;

/**
 * Reserves amounts in the given order, and returns for each whether it is reserved. The row of a budget is the lock that serialises the
 * reservations of its tenant, so that each sees the ones before it. Callers sort by tenant, so that two calls cannot deadlock.
 */
const reserveFunction = `
CREATE FUNCTION fairlead.hold(tenants text[], ids text[], usds double precision[], many double precision[], today text, month text)
RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
  allowed fairlead.allowances;
  held boolean[] := '{}';
BEGIN
  FOR i IN 1 .. cardinality(ids) LOOP
    SELECT * INTO allowed FROM fairlead.allowances WHERE tenant = tenants[i] FOR UPDATE;
    IF allowed.tenant IS NULL OR EXISTS (SELECT 1 FROM fairlead.holds WHERE tenant = tenants[i] AND id = ids[i])
      OR fairlead.has_room(tenants[i], CASE allowed.period WHEN 'day' THEN today WHEN 'month' THEN month ELSE '' END,
        usds[i], many[i], allowed.usd, allowed.tokens) THEN
      INSERT INTO fairlead.holds (tenant, id, day, usd, tokens) VALUES (tenants[i], ids[i], today, usds[i], many[i]) ON CONFLICT DO NOTHING;
      held := held || true;
    ELSE
      held := held || false;
    END IF;
  END LOOP;
  RETURN held;
END $$;
`;

/** Queued runs that were started before, by version: a worker without a version lists these versions. */
const startedRunsIndex = `
CREATE INDEX runs_begun ON fairlead.runs (version) WHERE status = 'queued' AND dispatched AND version IS NOT NULL;
`;

/** The tenant of each session. An existing session belongs to the tenant of its runs, or to none if they have several. */
const sessionTenants = `
ALTER TABLE fairlead.sessions ADD COLUMN tenant text;
UPDATE fairlead.sessions SET tenant = owner.tenant FROM (
  SELECT session, min(tenant) AS tenant FROM fairlead.runs GROUP BY session HAVING min(tenant) = max(tenant)
) AS owner WHERE owner.session = sessions.session;
CREATE INDEX sessions_tenant ON fairlead.sessions (tenant, changed, key) WHERE tenant IS NOT NULL;
CREATE INDEX runs_tenant ON fairlead.runs (tenant, key);
`;

/** How often in a row a run lost its worker. */
const workerLosses = `
ALTER TABLE fairlead.runs ADD COLUMN losses integer NOT NULL DEFAULT 0;
${workerLossFunctions}`;

/** The steps in order; the version of a store is the number of steps that were applied. */
export const migrations: readonly string[] = [
  `${initialSchema}${functions}`,
  reserveFunction,
  startedRunsIndex,
  sessionTenants,
  workerLosses,
];
