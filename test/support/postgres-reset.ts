// Empties a test database again: a copied database takes 300 files, so a test gets one that an earlier test has left.
import { Client } from 'pg';

const schemas = `('fairlead', 'fairlead_dbos')`;

const isOurs = (schema: string): string => `${schema}::text IN ('fairlead', 'fairlead_dbos', 'public')`;

/**
 * Everything that a test could have changed except rows; a database that differs from its template is not used again.
 * A copy has the object ids of its template, and an object that is created again gets another one.
 */
const definitions = `
  SELECT md5(string_agg(line, ' ' ORDER BY line)) FROM (
    SELECT concat('a', attrelid, ' ', attnum, attname, atttypid, attnotnull, atthasdef, attisdropped)
      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE ${isOurs('c.relnamespace::regnamespace')}
    UNION ALL SELECT concat('c', oid) FROM pg_class WHERE ${isOurs('relnamespace::regnamespace')}
    UNION ALL SELECT concat('k', oid) FROM pg_constraint WHERE ${isOurs('connamespace::regnamespace')}
    UNION ALL SELECT concat('t', oid) FROM pg_trigger
    UNION ALL SELECT concat('p', oid, ' ', md5(prosrc)) FROM pg_proc WHERE ${isOurs('pronamespace::regnamespace')}
  ) AS lines (line)`;

/** Saves the initial rows in the template, and a function that restores them; it returns whether the definitions are unchanged. */
const prepareSql = `
CREATE SCHEMA test_reset;
CREATE TABLE test_reset.definitions AS ${definitions};
CREATE TABLE test_reset.sequences AS
  SELECT format('%I.%I', schemaname, sequencename) AS name, last_value, start_value FROM pg_sequences
  WHERE schemaname IN ${schemas};
CREATE FUNCTION test_reset.reset() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE name text; copy text;
BEGIN
  IF (${definitions}) IS DISTINCT FROM (SELECT md5 FROM test_reset.definitions) THEN RETURN false; END IF;
  -- Without this, triggers and foreign keys apply to the rows.
  SET LOCAL session_replication_role = replica;
  FOR name, copy IN SELECT format('%I.%I', t.schemaname, t.tablename), c.tablename FROM pg_tables t
    LEFT JOIN pg_tables c ON c.schemaname = 'test_reset' AND c.tablename = t.schemaname || '.' || t.tablename
    WHERE t.schemaname IN ${schemas} LOOP
    EXECUTE 'DELETE FROM ' || name;
    IF copy IS NOT NULL THEN
      EXECUTE format('INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT * FROM test_reset.%I', name, copy);
    END IF;
  END LOOP;
  PERFORM setval(s.name::regclass, coalesce(last_value, start_value), last_value IS NOT NULL) FROM test_reset.sequences s;
  RETURN true;
END $$;
DO $$
DECLARE s text; t text; n bigint;
BEGIN
  FOR s, t IN SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ${schemas} LOOP
    EXECUTE format('SELECT count(*) FROM %I.%I', s, t) INTO n;
    IF n > 0 THEN EXECUTE format('CREATE TABLE test_reset.%I AS TABLE %I.%I', s || '.' || t, s, t); END IF;
  END LOOP;
END $$;`;

async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Prepares a template so that its copies can be reset. */
export async function preparePostgresReset(url: string): Promise<void> {
  const client = await connectTo(url);
  await client.query(prepareSql);
  await client.end();
}

/** Ends all connections to a database and makes it as its template was; returns false if its definitions were changed. */
export async function resetPostgres(url: string): Promise<boolean> {
  const client = await connectTo(url);
  try {
    await client.query(
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    const { rows } = await client.query<{ readonly reset: boolean }>('SELECT test_reset.reset()');
    return rows[0]?.reset === true;
  } finally {
    await client.end();
  }
}
