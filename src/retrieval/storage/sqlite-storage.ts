// Stores an index in one SQLite file: words in FTS5 with the Porter stemmer, vectors as bytes, compared by sqlite-vec if it is installed.
import { statSync } from 'node:fs';
import { inTransaction } from '../../core/index.ts';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { searchableTitle } from '../split/split-document.ts';
import { findUnspacedWords } from '../unspaced-words.ts';
import type { FilePassages, IndexedFile, IndexStorage, ScoredKey, StoredPassage } from '../types.ts';
import {
  damagedNotice,
  deleteIndexFile,
  isDamage,
  openIndexFile,
  replaceDamaged,
  retryWhileLocked,
  toIndexError,
} from './sqlite-file.ts';
import { loadSqliteVec } from './sqlite-vec.ts';
import { bytesToVector, createTopList, dotProduct, vectorToBytes } from './vectors.ts';

/** Options of `openSqliteStorage`. */
export type SqliteStorageOptions = {
  /** Whether vectors are compared by sqlite-vec: if it is installed (`auto`), or never. */
  readonly vectorExtension?: 'auto' | 'off';
  /** The folder of the index, stored so that a list of indexes can name it. */
  readonly root?: string;
};

/** The title counts twice as much as the text and the words of scripts without spaces. */
const findWordsSql = `SELECT rowid AS key, -rank AS score FROM words WHERE words MATCH ? AND rank MATCH 'bm25(2.0, 1.0, 1.0)' ORDER BY rank LIMIT ?`;

/** In a smaller index every word is ranked. */
const minPassagesToCount = 2000;

/** Opens the index in a SQLite file; creates the file if there is none. */
export async function openSqliteStorage(file: string, options: SqliteStorageOptions = {}): Promise<IndexStorage> {
  const extension = options.vectorExtension === 'off' ? undefined : await loadSqliteVec();
  const openOptions = { allowExtension: extension !== undefined };
  const opened = await openIndexFile(file, openOptions);
  const notices = [...opened.notices];
  let db: DatabaseSync = opened.db;
  let statements = new Map<string, StatementSync>();
  let isExtended = extension?.(db) ?? false;

  const { root } = options;
  if (root !== undefined)
    await retryWhileLocked(() =>
      db
        .prepare(
          "INSERT INTO meta VALUES ('root', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
        )
        .run(root),
    );

  /** Statements are prepared once. */
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  /** `Row` is not checked: the tables are strict. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  const all = <Row>(sql: string, ...values: SQLInputValue[]): readonly Row[] => prepare(sql).all(...values) as Row[];
  const run = (sql: string, ...values: SQLInputValue[]): number | bigint => prepare(sql).run(...values).lastInsertRowid;

  /** Runs work that only uses the database; a damaged file is replaced, and then the index is empty. */
  async function access<T>(work: () => T, ifDamaged: T): Promise<T> {
    try {
      return await retryWhileLocked(work);
    } catch (error) {
      if (!isDamage(error)) throw toIndexError(error, file);
      statements = new Map();
      db.close();
      db = await replaceDamaged(file, openOptions);
      isExtended = extension?.(db) ?? false;
      notices.push(damagedNotice);
      return ifDamaged;
    }
  }

  function removeFile(path: string): void {
    const row = prepare('SELECT id FROM files WHERE path = ?').get(path);
    if (!row) return;
    const id = Number(row['id']);
    for (const { key } of all<{ key: number }>('SELECT id AS key FROM passages WHERE file = ?', id)) {
      run('DELETE FROM words WHERE rowid = ?', key);
      run('DELETE FROM vectors WHERE id = ?', key);
    }
    run('DELETE FROM passages WHERE file = ?', id);
    run('DELETE FROM files WHERE id = ?', id);
  }

  /** The vectors of the present passages of a file by their text: a passage that did not change keeps its vector. */
  function vectorsByText(path: string, hasVectors: boolean): ReadonlyMap<string, Uint8Array> {
    if (!hasVectors) return new Map();
    const rows = all<{ text: string; vector: Uint8Array }>(
      `SELECT p.title || char(10) || w.body AS text, v.vector FROM files f JOIN passages p ON p.file = f.id JOIN words w ON w.rowid = p.id JOIN vectors v ON v.id = p.id WHERE f.path = ?`,
      path,
    );
    return new Map(rows.map(({ text, vector }) => [text, vector]));
  }

  function replaceFile(file: FilePassages, hasVectors: boolean): void {
    const present = prepare('SELECT hash, stamp FROM files WHERE path = ?').get(file.path);
    // Another process was faster.
    if (present && present['hash'] === file.hash && present['stamp'] === file.stamp) return;
    const kept = present ? vectorsByText(file.path, hasVectors) : new Map<string, Uint8Array>();
    if (present) removeFile(file.path);
    const id = run(
      'INSERT INTO files (path, size, stamp, hash) VALUES (?, ?, ?, ?)',
      file.path,
      file.size,
      file.stamp,
      file.hash,
    );
    for (const passage of file.passages) {
      const { title, text, lines, page = null, id: record = null } = passage;
      const key = run(
        'INSERT INTO passages (file, title, first, last, page, record) VALUES (?, ?, ?, ?, ?, ?)',
        id,
        title,
        lines[0],
        lines[1],
        page,
        record,
      );
      const searchable = searchableTitle(file.path, passage);
      const parts = findUnspacedWords(`${title}\n${text}`).join(' ');
      run('INSERT INTO words (rowid, title, body, parts) VALUES (?, ?, ?, ?)', key, searchable, text, parts);
      const vector = kept.get(`${title}\n${text}`);
      if (vector) run('INSERT INTO vectors (id, vector) VALUES (?, ?)', key, vector);
    }
  }

  return {
    notices,
    files: () =>
      access(
        () => new Map(all<IndexedFile>('SELECT path, size, stamp, hash FROM files').map((each) => [each.path, each])),
        new Map<string, IndexedFile>(),
      ),
    replace: (files) =>
      access(
        () =>
          inTransaction(db, () => {
            const hasVectors = prepare('SELECT 1 FROM vectors LIMIT 1').get() !== undefined;
            for (const each of files) replaceFile(each, hasVectors);
          }),
        undefined,
      ),
    touch: (files) =>
      access(
        () =>
          inTransaction(db, () => {
            for (const { path, stamp, hash } of files)
              run('UPDATE files SET stamp = ? WHERE path = ? AND hash = ?', stamp, path, hash);
          }),
        undefined,
      ),
    remove: (paths) =>
      access(
        () =>
          inTransaction(db, () => {
            for (const path of paths) removeFile(path);
          }),
        undefined,
      ),
    findWords: (words, limit) =>
      access(() => {
        if (words.length === 0) return [];
        // Each word is a quoted string, in which FTS5 has no operators; a quote cannot occur in a word.
        const quoted = words.map((word) => `"${word.replaceAll('"', '')}"`);
        return all<ScoredKey>(findWordsSql, selectWords(quoted).join(' OR '), limit);
      }, []),
    passages: (keys) =>
      access(() => new Map(keys.flatMap((key) => readPassage(key) ?? [])), new Map<number, StoredPassage>()),
    embeddingName: () => access(() => readMeta('embedding'), undefined),
    resetVectors: (name) =>
      access(
        () =>
          inTransaction(db, () => {
            run('DELETE FROM vectors');
            run(
              'INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
              'embedding',
              name,
            );
          }),
        undefined,
      ),
    withoutVector: (limit) =>
      access(
        () =>
          all(
            'SELECT p.id AS key, p.title, w.body AS text FROM passages p JOIN words w ON w.rowid = p.id WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.id = p.id) LIMIT ?',
            limit,
          ),
        [],
      ),
    addVectors: (name, vectors) =>
      access(
        () =>
          inTransaction(db, () => {
            if (readMeta('embedding') !== name) return;
            for (const { key, vector } of vectors)
              run(
                'INSERT OR REPLACE INTO vectors (id, vector) SELECT id, ? FROM passages WHERE id = ?',
                vectorToBytes(vector),
                key,
              );
          }),
        undefined,
      ),
    findNear: (vector, limit) =>
      access(() => (isExtended ? findNearExtended(vector, limit) : scanVectors(vector, limit)), []),
    counts: () =>
      access(
        () => ({
          files: count('files'),
          passages: count('passages'),
          vectors: count('vectors'),
          bytes: ['', '-wal'].reduce(
            (sum, suffix) => sum + (statSync(`${file}${suffix}`, { throwIfNoEntry: false })?.size ?? 0),
            0,
          ),
        }),
        { files: 0, passages: 0, vectors: 0, bytes: 0 },
      ),
    close: () => {
      statements = new Map();
      if (db.isOpen) db.close();
      return Promise.resolve();
    },
    destroy: () => {
      statements = new Map();
      if (db.isOpen) db.close();
      deleteIndexFile(file);
      return Promise.resolve();
    },
  };

  /** Leaves out words that more than half of the passages contain: BM25 gives them no weight, and ranking their passages takes most of the time. */
  function selectWords(quoted: readonly string[]): readonly string[] {
    if (quoted.length < 2) return quoted;
    const total = count('passages');
    if (total < minPassagesToCount) return quoted;
    const half = Math.floor(total / 2) + 1;
    const selective = quoted.filter(
      (word) => all('SELECT 1 FROM words WHERE words MATCH ? LIMIT 1 OFFSET ?', word, half - 1).length === 0,
    );
    return selective.length > 0 ? selective : quoted;
  }

  function count(table: 'files' | 'passages' | 'vectors'): number {
    return Number(prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'] ?? 0);
  }

  function readMeta(key: string): string | undefined {
    const value = prepare('SELECT value FROM meta WHERE key = ?').get(key)?.['value'];
    return typeof value === 'string' ? value : undefined;
  }

  function readPassage(key: number): readonly [readonly [number, StoredPassage]] | undefined {
    const [row] = all<PassageRow>(
      'SELECT p.title, w.body AS text, p.first, p.last, p.page, p.record, f.path, f.size, f.stamp, f.hash FROM passages p JOIN files f ON f.id = p.file JOIN words w ON w.rowid = p.id WHERE p.id = ?',
      key,
    );
    return row && [[key, toPassage(key, row)]];
  }

  function findNearExtended(vector: Float32Array, limit: number): readonly ScoredKey[] {
    return all<ScoredKey>(
      'SELECT id AS key, 1 - vec_distance_cosine(vector, ?) AS score FROM vectors WHERE length(vector) = ? ORDER BY score DESC, id LIMIT ?',
      vectorToBytes(vector),
      vector.byteLength,
      limit,
    );
  }

  function scanVectors(vector: Float32Array, limit: number): readonly ScoredKey[] {
    const top = createTopList(limit);
    for (const row of prepare('SELECT id AS key, vector FROM vectors').iterate()) {
      const { key, vector: bytes } = row as { readonly key: number; readonly vector: Uint8Array };
      top.add(key, dotProduct(vector, bytesToVector(bytes)));
    }
    return top.sorted();
  }
}

/** A row of the join of passages, files and words. */
type PassageRow = IndexedFile & {
  readonly title: string;
  readonly text: string;
  readonly first: number;
  readonly last: number;
  readonly page: number | null;
  readonly record: string | null;
};

function toPassage(
  key: number,
  { title, text, first, last, page, record, path, size, stamp, hash }: PassageRow,
): StoredPassage {
  return {
    key,
    title,
    text,
    lines: [first, last],
    ...(page === null ? {} : { page }),
    ...(record === null ? {} : { id: record }),
    file: { path, size, stamp, hash },
  };
}
