// An index in PostgreSQL: full-text search, vectors by an exact scan, changes and removal, with a real server.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createDocumentIndex, openPostgresStorage } from '../src/retrieval/index.ts';
import { openPostgresDatabase } from '../src/stores/postgres/index.ts';
import { createProgram } from './support/cli-harness.ts';
import { conceptVector, startEmbeddingServer } from './support/embedding-server.ts';
import { startPostgres } from './support/postgres.ts';
import { writeFiles } from './support/program-dirs.ts';

const postgres = await startPostgres();
const skip = typeof postgres === 'string' ? postgres : false;
const createDatabase = (): Promise<string> =>
  typeof postgres === 'string' ? assert.fail(postgres) : postgres.createDatabase();

test(
  '[A111] an index in PostgreSQL is searched by words and by vectors, is never stale, and is separate from other indexes',
  { skip },
  async (t) => {
    const base = mkdtempSync(path.join(tmpdir(), 'fairlead-retrieval-pg-'));
    t.after(() => rmSync(base, { recursive: true, force: true }));
    const db = await openPostgresDatabase(await createDatabase());
    t.after(() => db.close());
    const connection = {
      query: (sql: string, values: Parameters<typeof db.all>[1] = []) => db.all<object>(sql, values),
    };
    const embedding = { name: 'concepts', embed: async (texts: readonly string[]) => texts.map(conceptVector) };
    const open = async (name: string) => {
      mkdirSync(path.join(base, name), { recursive: true });
      return createDocumentIndex({
        root: path.join(base, name),
        storage: await openPostgresStorage(connection, name),
        embedding,
      });
    };
    const write = (name: string, text: string): void => writeFileSync(path.join(base, name), text);
    const [first, second] = await Promise.all([open('a'), open('b')]);
    write('a/tide.md', '# Tide tables\n\nThe harbour office has them.\n');
    write('a/garage.md', '# Garage\n\nWe mend an automobile.\n');
    write('a/nul.txt', `needle \u{1F600} ${'x '.repeat(6000)}\0 tail`);
    write('a/zh.md', '堪培拉是澳大利亚的首都。\n');
    write('b/other.md', 'Tide tables of another index.\n');
    assert.deepEqual([(await first.update()).passages > 3, (await second.update()).files], [true, 1]);
    const found = await first.search('what about the tables, or "NOT" the tide & harbour | !office:*');
    assert.deepEqual(
      [found.lexical.length, found.lexical[0]?.source.path, found.lexical[0]?.source.lines],
      [1, 'tide.md', [1, 3]],
    );
    assert.equal((await first.search('fix my vehicle')).semantic[0]?.source.path, 'garage.md');
    assert.equal((await first.search('needle')).lexical[0]?.source.path, 'nul.txt');
    assert.equal((await first.search('澳大利亚首都')).lexical[0]?.source.path, 'zh.md');
    write('a/tide.md', '# Moon\n\nNothing else.\n');
    assert.deepEqual((await first.search('tide')).lexical, []);
    assert.equal((await first.search('moon')).lexical[0]?.source.path, 'tide.md');
    rmSync(path.join(base, 'a/garage.md'));
    assert.equal(
      (await first.search('automobile')).hits.some(({ source }) => source.path === 'garage.md'),
      false,
    );
    const again = await first.update();
    assert.deepEqual([again.added, again.changed, again.embedded, again.vectors === again.passages], [0, 0, 0, true]);
    await first.destroy();
    assert.deepEqual([(await first.counts()).files, (await second.counts()).files], [0, 1]);
  },
);

test('fairlead index and search use a PostgreSQL database that is named with --store', { skip }, async (t) => {
  const program = await createProgram(t);
  const server = await startEmbeddingServer(t);
  const url = await createDatabase();
  writeFiles(program.cwd, { 'garage.md': '# Garage\n\nWe mend an automobile.\n', 'song.txt': 'The word car.\n' });
  const env = { VLLM_BASE_URL: `${server.url}/v1` };
  const { out, err } = await program.run(['index', '.', '--store', url, '--embedding', 'vllm/concepts'], { env });
  assert.match(out, /2 files, 2 passages, 2 vectors/, err);
  const found = JSON.parse(
    (await program.run(['search', 'mend the car', '--store', url, '--folder', '.', '--json'], { env })).out,
  ) as {
    readonly hits: readonly { readonly source: { readonly path: string } }[];
  };
  assert.deepEqual(new Set(found.hits.map(({ source }) => source.path)), new Set(['garage.md', 'song.txt']));
  assert.match((await program.run(['index', '--remove', '.', '--store', url])).out, /was removed/);
});
