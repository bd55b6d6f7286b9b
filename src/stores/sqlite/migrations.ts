// Migrations of a SQLite store: the steps from one version of its tables to the next. A released step is never changed.

/*
 * Stored name = term of the code (GLOSSARY.md). Stored names stay, because a released step is never changed.
 *
 * presences = process leases
 * presences.holder = lock owner (`LockOwner`) as JSON
 * presences.beat = last heartbeat, in milliseconds since boot
 * presences.wall = last heartbeat, in milliseconds of the system clock
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
 * events.jump = seq of the parent, if the parent is not the previous event
 * events.epoch = set if the event starts an epoch with a baseline
 * runs.words = prompt
 * runs.status 'resting' = status `waiting`
 * runs.woken = 1 if a message arrived while the run was running
 * runs.queued = time at which the run was enqueued
 * runs.due = earliest time of the next start
 * runs.later = `notBefore`
 * runs.taken = time of the last claim
 * runs.holder = lease token of the worker
 * runs.questions = pending approvals
 * runs.outcome, field `handed` = `clientToolCalls`
 * schedules.run, field `words` = prompt
 * schedules.next = next time at which the schedule is due
 * letters = inbox messages
 * letters.place = position of a message
 * letters.letter = message as JSON; its field `words` = `text`
 * control 'standing' = kill switch; its field `why` = `reason`
 * allowances = tenant budgets
 * spendings = amounts spent, by tenant and day
 * holds = reservations
 * workers.entry = worker as JSON; its fields `begun` and `about` = `startedAt` and `info`
 * workers.seen = `lastSeenAt`
 * index runs_resting = waiting runs
 * index runs_open = runs that have not ended
 * index runs_taken = claimed runs
 */

/** Marks a database as a store of Fairlead in its header: "Fair" in ASCII. */
export const applicationId = 0x46616972;

const initialSchema = `
CREATE TABLE presences (
  token TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  beat TEXT NOT NULL,
  wall INTEGER NOT NULL,
  lease INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL UNIQUE,
  name TEXT,
  begun TEXT NOT NULL,
  changed TEXT NOT NULL,
  seq INTEGER NOT NULL DEFAULT 0,
  head TEXT,
  fence INTEGER NOT NULL DEFAULT 0,
  holder TEXT,
  holder_name TEXT
) STRICT;
CREATE INDEX sessions_changed ON sessions (changed, key);
CREATE INDEX sessions_holder ON sessions (holder) WHERE holder IS NOT NULL;

CREATE TABLE events (
  session INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  parent TEXT,
  jump INTEGER,
  epoch INTEGER,
  time TEXT NOT NULL,
  fact TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_seq ON events (session, seq);
CREATE INDEX events_jump ON events (session, seq) WHERE jump IS NOT NULL;
CREATE INDEX events_epoch ON events (session, seq) WHERE epoch IS NOT NULL;

CREATE TABLE runs (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  words TEXT NOT NULL,
  kind TEXT NOT NULL,
  settings TEXT NOT NULL,
  session TEXT NOT NULL,
  tenant TEXT NOT NULL,
  priority REAL NOT NULL,
  parent TEXT,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  woken INTEGER NOT NULL DEFAULT 0,
  queued INTEGER NOT NULL,
  due INTEGER NOT NULL,
  later INTEGER,
  taken INTEGER,
  started INTEGER,
  ended INTEGER,
  worker TEXT,
  holder TEXT,
  version TEXT,
  questions TEXT,
  reason TEXT,
  usd REAL,
  tokens REAL,
  outcome TEXT
) STRICT;
CREATE INDEX runs_queued ON runs (priority DESC, key) WHERE status = 'queued';
CREATE INDEX runs_due ON runs (due) WHERE status = 'queued';
CREATE INDEX runs_running ON runs (tenant, holder) WHERE status = 'running';
CREATE INDEX runs_resting ON runs (key) WHERE status = 'resting';
CREATE INDEX runs_open ON runs (session) WHERE status <> 'ended';
CREATE INDEX runs_session ON runs (session, key);
CREATE INDEX runs_parent ON runs (parent, key) WHERE parent IS NOT NULL;
CREATE INDEX runs_taken ON runs (taken) WHERE taken IS NOT NULL;
CREATE INDEX runs_ended ON runs (ended) WHERE ended IS NOT NULL;

CREATE TABLE schedules (
  name TEXT PRIMARY KEY,
  cron TEXT NOT NULL,
  run TEXT NOT NULL,
  next INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE letters (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  time INTEGER NOT NULL,
  letter TEXT NOT NULL
) STRICT;
CREATE INDEX letters_session ON letters (session, place);

CREATE TABLE control (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO control (name, value) VALUES ('standing', '{"stopped":false}'), ('limits', '{}');

CREATE TABLE allowances (
  tenant TEXT PRIMARY KEY,
  period TEXT NOT NULL,
  usd REAL,
  tokens REAL
) STRICT, WITHOUT ROWID;
CREATE TABLE spendings (
  tenant TEXT NOT NULL,
  day TEXT NOT NULL,
  usd REAL NOT NULL,
  tokens REAL NOT NULL,
  PRIMARY KEY (tenant, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE holds (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  day TEXT NOT NULL,
  usd REAL NOT NULL,
  tokens REAL NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (
  worker TEXT PRIMARY KEY,
  entry TEXT NOT NULL,
  seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** The tenant of each session. An existing session belongs to the tenant of its runs, or to none if they have several. */
const sessionTenants = `
ALTER TABLE sessions ADD COLUMN tenant TEXT;
UPDATE sessions SET tenant = (
  SELECT min(tenant) FROM runs WHERE runs.session = sessions.session HAVING min(tenant) = max(tenant)
);
CREATE INDEX sessions_tenant ON sessions (tenant, changed, key) WHERE tenant IS NOT NULL;
CREATE INDEX runs_tenant ON runs (tenant, key);
`;

/** How often in a row a run lost its worker. */
const workerLosses = `
ALTER TABLE runs ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
`;

/** The steps in order; the version of a database is the number of steps that were applied. */
export const migrations: readonly string[] = [initialSchema, sessionTenants, workerLosses];
