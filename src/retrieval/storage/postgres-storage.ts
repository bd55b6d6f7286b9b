// Stores an index in PostgreSQL: words in a tsvector, vectors as real[], compared by pgvector where the server has it and by an exact scan otherwise.
import { searchableTitle } from '../split/split-document.ts';
import { findUnspacedWords } from '../unspaced-words.ts';
import type { FilePassages, IndexedFile, IndexStorage, ScoredKey, StoredPassage } from '../types.ts';
import { createTopList, dotProduct } from './vectors.ts';

/** A value of a statement. */
export type PostgresValue =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | readonly (number | null)[]
  | readonly (string | null)[];

/** A connection to PostgreSQL. A statement is a transaction of its own, and may be sent again after a lost connection. */
export type PostgresConnection = {
  query(sql: string, values?: readonly PostgresValue[]): Promise<readonly object[]>;
};

const schema = [
  `CREATE TABLE IF NOT EXISTS fairlead_documents (index_id text NOT NULL, path text NOT NULL, size bigint NOT NULL, stamp text NOT NULL, hash text NOT NULL, PRIMARY KEY (index_id, path))`,
  `CREATE TABLE IF NOT EXISTS fairlead_passages (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, index_id text NOT NULL, path text NOT NULL, title text NOT NULL, body text NOT NULL, first int NOT NULL, last int NOT NULL, page int, record text, words tsvector NOT NULL, vector real[], FOREIGN KEY (index_id, path) REFERENCES fairlead_documents ON DELETE CASCADE)`,
  `CREATE INDEX IF NOT EXISTS fairlead_passages_words ON fairlead_passages USING gin (words)`,
  `CREATE INDEX IF NOT EXISTS fairlead_passages_path ON fairlead_passages (index_id, path)`,
  `CREATE TABLE IF NOT EXISTS fairlead_indexes (index_id text PRIMARY KEY, embedding text NOT NULL)`,
];

/** Max characters of a text in a tsvector; PostgreSQL refuses a tsvector of more than 1 MB. */
const maxIndexedChars = 200_000;
/** Rows that an exact scan reads at once. */
const scanRows = 2000;

/** PostgreSQL has no NUL in a text. */
const clean = (text: string): string => text.replaceAll('\0', ' ').toWellFormed();

/** Replaces one file: the old rows go and the new ones come in one statement, which is one transaction. */
const replaceSql = `
WITH gone AS (DELETE FROM fairlead_passages WHERE index_id = $1 AND path = $2),
document AS (
  INSERT INTO fairlead_documents (index_id, path, size, stamp, hash) VALUES ($1, $2, $3::bigint, $4, $5)
  ON CONFLICT (index_id, path) DO UPDATE SET size = excluded.size, stamp = excluded.stamp, hash = excluded.hash RETURNING path
)
INSERT INTO fairlead_passages (index_id, path, title, body, first, last, page, record, words, vector)
SELECT $1, document.path, p.title, p.body, p.first, p.last, p.page, p.record,
  setweight(to_tsvector('english', p.searchable), 'A') || setweight(to_tsvector('english', left(p.body, ${maxIndexedChars})), 'B') || setweight(to_tsvector('simple', p.parts), 'B'),
  (SELECT o.vector FROM fairlead_passages o WHERE o.index_id = $1 AND o.path = $2 AND o.title = p.title AND o.body = p.body LIMIT 1)
FROM document, unnest($6::text[], $7::text[], $8::text[], $9::int[], $10::int[], $11::int[], $12::text[], $13::text[]) AS p(title, searchable, body, first, last, page, record, parts)`;

/** Opens the index with this id in a database; creates the tables if there are none. */
export async function openPostgresStorage(connection: PostgresConnection, id: string): Promise<IndexStorage> {
  /** `Row` is not checked: the tables define it. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  const all = async <Row>(sql: string, ...values: PostgresValue[]): Promise<readonly Row[]> =>
    (await connection.query(sql, values)) as readonly Row[];
  for (const statement of schema) await createIfMissing(() => all(statement));
  const hasPgvector = await probePgvector(all);

  async function replaceFile(file: FilePassages): Promise<void> {
    const { path, size, stamp, hash, passages } = file;
    const column = <Value>(read: (passage: (typeof passages)[number]) => Value): Value[] => passages.map(read);
    await all(
      replaceSql,
      id,
      clean(path),
      size,
      stamp,
      hash,
      column(({ title }) => clean(title)),
      column((passage) => clean(searchableTitle(path, passage))),
      column(({ text }) => clean(text)),
      column(({ lines }) => lines[0]),
      column(({ lines }) => lines[1]),
      column(({ page = null }) => page),
      column(({ id: record }) => (record === undefined ? null : clean(record))),
      column(({ title, text }) => findUnspacedWords(clean(`${title}\n${text}`)).join(' ')),
    );
  }

  return {
    notices: [],
    files: async () =>
      new Map(
        (
          await all<Omit<IndexedFile, 'size'> & { size: number | string }>(
            'SELECT path, size, stamp, hash FROM fairlead_documents WHERE index_id = $1',
            id,
          )
        ).map((each) => [each.path, { ...each, size: Number(each.size) }]),
      ),
    replace: async (files) => {
      for (const file of files) await replaceFile(file);
    },
    touch: async (files) => {
      await all(
        'UPDATE fairlead_documents d SET stamp = f.stamp FROM unnest($2::text[], $3::text[], $4::text[]) AS f(path, stamp, hash) WHERE d.index_id = $1 AND d.path = f.path AND d.hash = f.hash',
        id,
        files.map(({ path }) => clean(path)),
        files.map(({ stamp }) => stamp),
        files.map(({ hash }) => hash),
      );
    },
    remove: async (paths) => {
      await all('DELETE FROM fairlead_documents WHERE index_id = $1 AND path = ANY($2::text[])', id, paths.map(clean));
    },
    // The words are letters and digits only, so "or" between them is the only operator.
    findWords: async (words, limit) =>
      words.length === 0
        ? []
        : (
            await all<RawScore>(
              `SELECT id AS key, ts_rank_cd('{0.1, 0.2, 0.5, 1.0}', words, query, 1)::float8 AS score FROM fairlead_passages, websearch_to_tsquery('english', $2) query WHERE index_id = $1 AND words @@ query ORDER BY score DESC, id LIMIT $3`,
              id,
              words.join(' or '),
              limit,
            )
          ).map(toScoredKey),
    passages: async (keys) => {
      const rows = await all<PassageRow>(
        'SELECT p.id, p.title, p.body, p.first, p.last, p.page, p.record, d.path, d.size, d.stamp, d.hash FROM fairlead_passages p JOIN fairlead_documents d USING (index_id, path) WHERE p.index_id = $1 AND p.id = ANY($2::bigint[])',
        id,
        keys.map(String),
      );
      return new Map(rows.map((row) => [Number(row.id), toPassage(row)]));
    },
    embeddingName: async () =>
      (await all<{ embedding: string }>('SELECT embedding FROM fairlead_indexes WHERE index_id = $1', id))[0]
        ?.embedding,
    resetVectors: async (name) => {
      await all(
        'WITH named AS (INSERT INTO fairlead_indexes VALUES ($1, $2) ON CONFLICT (index_id) DO UPDATE SET embedding = excluded.embedding) UPDATE fairlead_passages SET vector = NULL WHERE index_id = $1 AND vector IS NOT NULL',
        id,
        name,
      );
    },
    withoutVector: async (limit) =>
      (
        await all<{ id: string; title: string; body: string }>(
          'SELECT id, title, body FROM fairlead_passages WHERE index_id = $1 AND vector IS NULL ORDER BY id LIMIT $2',
          id,
          limit,
        )
      ).map(({ id: key, title, body }) => ({ key: Number(key), title, text: body })),
    addVectors: async (name, vectors) => {
      await all(
        `UPDATE fairlead_passages p SET vector = v.vector::real[] FROM unnest($3::bigint[], $4::text[]) AS v(id, vector) WHERE p.id = v.id AND p.index_id = $1 AND EXISTS (SELECT 1 FROM fairlead_indexes WHERE index_id = $1 AND embedding = $2)`,
        id,
        name,
        vectors.map(({ key }) => String(key)),
        vectors.map(({ vector }) => `{${vector.join(',')}}`),
      );
    },
    findNear: (vector, limit) => (hasPgvector ? findNearInServer(vector, limit) : scanVectors(vector, limit)),
    counts: async () => {
      const [row] = await all<Record<string, string>>(
        'SELECT (SELECT count(*) FROM fairlead_documents WHERE index_id = $1) AS files, count(*) AS passages, count(vector) AS vectors, coalesce(sum(pg_column_size(p.*)), 0) AS bytes FROM fairlead_passages p WHERE index_id = $1',
        id,
      );
      const number = (name: string): number => Number(row?.[name] ?? 0);
      return {
        files: number('files'),
        passages: number('passages'),
        vectors: number('vectors'),
        bytes: number('bytes'),
      };
    },
    close: () => Promise.resolve(),
    destroy: async () => {
      await all(
        'WITH named AS (DELETE FROM fairlead_indexes WHERE index_id = $1) DELETE FROM fairlead_documents WHERE index_id = $1',
        id,
      );
    },
  };

  async function findNearInServer(vector: Float32Array, limit: number): Promise<readonly ScoredKey[]> {
    const rows = await all<RawScore>(
      'SELECT id AS key, 1 - (vector::vector <=> $2::real[]::vector)::float8 AS score FROM fairlead_passages WHERE index_id = $1 AND array_length(vector, 1) = $3 ORDER BY score DESC, id LIMIT $4',
      id,
      `{${vector.join(',')}}`,
      vector.length,
      limit,
    );
    return rows.map(toScoredKey);
  }

  async function scanVectors(vector: Float32Array, limit: number): Promise<readonly ScoredKey[]> {
    const top = createTopList(limit);
    for (let after = -1; ;) {
      const rows = await all<{ id: string; vector: readonly number[] }>(
        'SELECT id, vector FROM fairlead_passages WHERE index_id = $1 AND vector IS NOT NULL AND id > $2::bigint ORDER BY id LIMIT $3',
        id,
        after,
        scanRows,
      );
      for (const row of rows) top.add(Number(row.id), dotProduct(vector, row.vector));
      const last = rows.at(-1);
      if (!last || rows.length < scanRows) return top.sorted();
      after = Number(last.id);
    }
  }
}

/** Two processes that create the same table at the same time collide in the catalogue; the second attempt finds it. */
async function createIfMissing(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch {
    await create();
  }
}

/** Whether the server compares vectors: pgvector is installed in the database, or may be. */
async function probePgvector(all: <Row>(sql: string) => Promise<readonly Row[]>): Promise<boolean> {
  const isInstalled = async (): Promise<boolean> =>
    (await all("SELECT 1 AS one FROM pg_extension WHERE extname = 'vector'")).length > 0;
  if (await isInstalled()) return true;
  const available = await all("SELECT 1 AS one FROM pg_available_extensions WHERE name = 'vector'");
  if (available.length === 0) return false;
  await all('CREATE EXTENSION IF NOT EXISTS vector').catch(() => []);
  return isInstalled();
}

const toScoredKey = ({ key, score }: RawScore): ScoredKey => ({ key: Number(key), score: Number(score) });

/** A connection may return a bigint as text. */
type RawScore = { readonly key: number | string; readonly score: number | string };

type PassageRow = {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly first: number;
  readonly last: number;
  readonly page: number | null;
  readonly record: string | null;
  readonly path: string;
  readonly size: string;
  readonly stamp: string;
  readonly hash: string;
};

const toPassage = ({
  id,
  title,
  body,
  first,
  last,
  page,
  record,
  path,
  size,
  stamp,
  hash,
}: PassageRow): StoredPassage => ({
  key: Number(id),
  title,
  text: body,
  lines: [first, last],
  ...(page === null ? {} : { page }),
  ...(record === null ? {} : { id: record }),
  file: { path, size: Number(size), stamp, hash },
});
