// What a fleet is held against: the least that keeping and working on a run can cost in the same database.
import { DatabaseSync } from 'node:sqlite';

/** So many runs in bare SQLite: a row inserted, taken and ended; so many at a time share each of the three durable transactions. */
export function runBareSqlite(file: string, runs: number, atOnce: number): number {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE runs (id TEXT PRIMARY KEY, status TEXT, words TEXT, answer TEXT) STRICT');
  const insert = db.prepare("INSERT INTO runs VALUES (?, 'queued', ?, NULL)");
  const take = db.prepare("UPDATE runs SET status = 'running' WHERE id = ?");
  const end = db.prepare("UPDATE runs SET status = 'ended', answer = ? WHERE id = ?");
  const each = (from: number, change: (id: string) => unknown): void => {
    db.exec('BEGIN IMMEDIATE');
    for (let i = from; i < Math.min(runs, from + atOnce); i++) change(`run-${i}`);
    db.exec('COMMIT');
  };
  const since = performance.now();
  for (let i = 0; i < runs; i += atOnce) each(i, (id) => insert.run(id, 'Say yes.'));
  for (let i = 0; i < runs; i += atOnce) {
    each(i, (id) => take.run(id));
    each(i, (id) => end.run('Yes.', id));
  }
  const ms = performance.now() - since;
  db.close();
  return ms;
}

/** So many bare DBOS workflows of one step on PostgreSQL, so many at a time. */
export async function runBareDbos(url: string, runs: number, atOnce: number): Promise<number> {
  const { DBOS } = await import('@dbos-inc/dbos-sdk');
  DBOS.setConfig({ name: 'floor', systemDatabaseUrl: url, runAdminServer: false, logLevel: 'error' });
  const one = DBOS.registerWorkflow(
    async (words: string) => DBOS.runStep(async () => `Yes: ${words}`, { name: 'answer' }),
    { name: 'one-step' },
  );
  await DBOS.launch();
  const work = async (): Promise<void> => {
    for (let i = 0; i < runs; i += atOnce)
      await Promise.all(
        Array.from({ length: Math.min(atOnce, runs - i) }, async () =>
          (await DBOS.startWorkflow(one)('go')).getResult(),
        ),
      );
  };
  await one('warm');
  const since = performance.now();
  await work();
  const ms = performance.now() - since;
  await DBOS.shutdown();
  return ms;
}
