// Tests of the index of a folder: incremental, never stale, consistent after a kill, within its bounds, and safe with hostile names, files and queries.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { FairleadError } from '../core/index.ts';
import {
  createDocumentIndex,
  openSqliteStorage,
  type DocumentIndex,
  type EmbeddingModel,
  type FuseLists,
  type SearchResult,
} from './index.ts';

type Folder = { readonly root: string; readonly file: string; write(name: string, text: string | Uint8Array): void };

function makeFolder(t: TestContext): Folder {
  const base = mkdtempSync(path.join(tmpdir(), 'fairlead-retrieval-'));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const root = path.join(base, 'docs');
  mkdirSync(root);
  return {
    root,
    file: path.join(base, 'data', 'index.db'),
    write(name, text) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    },
  };
}

async function openIndex(
  t: TestContext,
  { root, file }: Folder,
  options: { embedding?: EmbeddingModel; maxFileBytes?: number; fuse?: FuseLists } = {},
): Promise<DocumentIndex> {
  const index = createDocumentIndex({ root, storage: await openSqliteStorage(file), ...options });
  t.after(() => index.close());
  return index;
}

const paths = ({ hits }: SearchResult): readonly string[] => hits.map(({ source }) => source.path);

test('a query in Chinese, Japanese or Thai finds the document with its words, and what is shown is the text of the file', async (t) => {
  const folder = makeFolder(t);
  const texts = {
    'zh.md': '# 澳大利亚\n\n堪培拉是澳大利亚的首都，使用SQLite数据库。\n',
    'zh2.md': '# 德国\n\n柏林是德国的城市。\n',
    'ja.txt': '東京都の人口は約1400万人です。\n',
    'th.txt': 'กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย\n',
    'en.md': '# Capitals\n\nCanberra is the capital of Australia.\n',
  };
  for (const [name, text] of Object.entries(texts)) folder.write(name, text);
  const index = await openIndex(t, folder);
  await index.update();
  for (const [query, name] of [
    ['澳大利亚首都', 'zh.md'],
    ['首都在哪里？', 'zh.md'],
    ['sqlite', 'zh.md'],
    ['柏林', 'zh2.md'],
    ['人口', 'ja.txt'],
    ['เมืองหลวง', 'th.txt'],
    ['capital', 'en.md'],
  ] as const)
    assert.equal(paths(await index.search(query))[0], name, query);
  assert.equal((await index.search('首都')).hits[0]?.text, texts['zh.md'].trim());
  assert.deepEqual(paths(await index.search('火车')), []);
});

test('an update reads only what is new or changed, and removes what is gone', async (t) => {
  const folder = makeFolder(t);
  for (let i = 0; i < 20; i += 1) folder.write(`notes/n${i}.md`, `# Note ${i}\nabout topic${i}\n`);
  const index = await openIndex(t, folder);
  const first = await index.update();
  assert.deepEqual([first.added, first.files, first.passages], [20, 20, 20]);
  folder.write('notes/n3.md', '# Note 3\nabout walruses\n');
  folder.write('notes/new.md', 'zebra');
  rmSync(path.join(folder.root, 'notes/n4.md'));
  const second = await index.update();
  assert.deepEqual([second.added, second.changed, second.removed, second.unchanged], [1, 1, 1, 18]);
  assert.deepEqual(paths(await index.search('walruses')), ['notes/n3.md']);
  assert.deepEqual(paths(await index.search('topic3')), []);
  assert.deepEqual(paths(await index.search('topic4')), []);
  assert.equal((await index.update()).unchanged, 20);
});

test('every hit names its file, lines and the sha256 of the file; the title counts twice', async (t) => {
  const folder = makeFolder(t);
  folder.write('a.md', '# Other\n\nThe harbour is deep.\n\n## Tide tables\n\nSee the office.\n');
  folder.write('b.md', '# Misc\n\nWe like tide here, and long text about nothing in particular.\n');
  const index = await openIndex(t, folder);
  await index.update();
  const { hits, lexical, semantic } = await index.search('what is the tide');
  const { createHash } = await import('node:crypto');
  const hash = createHash('sha256')
    .update(readFileSync(path.join(folder.root, 'a.md')))
    .digest('hex');
  assert.deepEqual(hits[0]?.source, { path: 'a.md', lines: [5, 7], hash });
  assert.equal(hits[0].title, 'Other > Tide tables');
  assert.deepEqual([hits[0].rank, hits[0].lexicalRank, hits[0].semanticRank], [1, 1, undefined]);
  assert.deepEqual(
    lexical.map(({ source }) => source.path),
    ['a.md', 'b.md'],
  );
  assert.deepEqual(semantic, []);
});

test('the title of a record counts twice as much as its text, and records of one file are ranked by BM25', async (t) => {
  const folder = makeFolder(t);
  const filler = Array.from({ length: 20 }, (_item, i) => `{"id":"f${i}","title":"other","text":"some words here"}\n`);
  folder.write(
    'corpus.jsonl',
    `{"id":"text","title":"words","text":"tide some here"}\n{"id":"title","title":"tide","text":"some words here"}\n${filler.join('')}`,
  );
  const index = await openIndex(t, folder);
  await index.update();
  const { hits, lexical } = await index.search('tide');
  assert.deepEqual(
    hits.map(({ source }) => source.id),
    ['title', 'text'],
  );
  const [first, second] = lexical.map(({ score }) => score);
  assert.ok((first ?? 0) > 1.2 * (second ?? 0), `${first} ${second}`);
});

test('a hit is never stale: a changed file is indexed again before it is returned, also if its size and times are the same; a deleted one is dropped', async (t) => {
  const folder = makeFolder(t);
  folder.write('price.txt', 'The price is 41 euros.');
  folder.write('gone.txt', 'The price is 99 euros.');
  const index = await openIndex(t, folder);
  await index.update();
  const file = path.join(folder.root, 'price.txt');
  const { atime, mtime } = statSync(file);
  writeFileSync(file, 'The price is 42 euros.');
  utimesSync(file, atime, mtime);
  rmSync(path.join(folder.root, 'gone.txt'));
  const { hits } = await index.search('price');
  assert.deepEqual(
    hits.map(({ text }) => text),
    ['The price is 42 euros.'],
  );
  assert.equal(await index.isCurrent(hits[0]?.source ?? assert.fail()), true);
  writeFileSync(file, 'The price is 43 euros.');
  assert.equal(await index.isCurrent(hits[0]?.source ?? assert.fail()), false);
  assert.deepEqual(
    (await index.search('price')).hits.map(({ text }) => text),
    ['The price is 43 euros.'],
  );
});

test('ignored, secret, binary and large files are not indexed, and links are not followed', async (t) => {
  const folder = makeFolder(t);
  folder.write('.gitignore', 'build/\n*.log\n');
  folder.write('build/out.txt', 'needle');
  folder.write('x.log', 'needle');
  folder.write('.env', 'KEY=needle');
  folder.write('secrets.json', '"needle"');
  folder.write('node_modules/p/index.js', 'needle');
  folder.write('bin.dat', Buffer.from('needle\0\x01'));
  folder.write('large.txt', `needle ${'x'.repeat(5000)}`);
  folder.write('ok.txt', 'needle');
  folder.write('../outside.txt', 'needle');
  symlinkSync(path.join(folder.root, '../outside.txt'), path.join(folder.root, 'link.txt'));
  symlinkSync(path.join(folder.root, '..'), path.join(folder.root, 'up'));
  const index = await openIndex(t, folder, { maxFileBytes: 2000 });
  const report = await index.update();
  assert.deepEqual(paths(await index.search('needle')), ['ok.txt']);
  assert.deepEqual(report.skipped, { binary: 1, 'too large': 1, secret: 2 });
  assert.deepEqual(report.notices, ['2 symbolic links were not followed.']);
  // A file that became a link, or whose folder did, is not read through the link.
  folder.write('sub/inner.txt', 'needle inner');
  await index.update();
  rmSync(path.join(folder.root, 'ok.txt'));
  symlinkSync(path.join(folder.root, '../outside.txt'), path.join(folder.root, 'ok.txt'));
  mkdirSync(path.join(folder.root, '../other'));
  writeFileSync(path.join(folder.root, '../other/inner.txt'), 'needle other');
  rmSync(path.join(folder.root, 'sub'), { recursive: true });
  symlinkSync(path.join(folder.root, '../other'), path.join(folder.root, 'sub'));
  assert.deepEqual(paths(await index.search('needle')), []);
});

test('a secret file that is named directly, and a folder of keys, are not indexed', async (t) => {
  const folder = makeFolder(t);
  folder.write('.env', 'KEY=needle');
  folder.write('.ssh/config.txt', 'needle');
  for (const name of ['.env', '.ssh']) {
    const index = createDocumentIndex({
      root: path.join(folder.root, name),
      storage: await openSqliteStorage(`${folder.file}${name}`),
    });
    t.after(() => index.close());
    const report = await index.update();
    assert.deepEqual([report.files, report.skipped], [0, { secret: 1 }], name);
    assert.deepEqual(paths(await index.search('needle')), []);
  }
});

/** A PDF with one line of text per page. */
function createPdf(pages: readonly string[]): string {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages.map((_page, i) => `${4 + i * 2} 0 R`).join(' ')}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, i) => {
      const content = `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + i * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  return `${text}xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF`;
}

test('the text of a PDF is found with its page; a damaged PDF is counted and does not stop the update', async (t) => {
  const folder = makeFolder(t);
  folder.write('book.pdf', createPdf(['The first page is about zebras.', 'The second page is about okapis.']));
  folder.write('damaged.pdf', `%PDF-1.7\n${'x'.repeat(5000)}`);
  const index = await openIndex(t, folder);
  assert.deepEqual((await index.update()).skipped, { 'not a readable PDF': 1 });
  const [hit] = (await index.search('okapis')).hits;
  assert.deepEqual([hit?.source.path, hit?.source.page, hit?.title], ['book.pdf', 2, 'page 2']);
  assert.match(hit?.text ?? '', /^The second page is about okapis\./);
});

test('the index file is readable by its owner only', async (t) => {
  const folder = makeFolder(t);
  folder.write('a.txt', 'words');
  const index = await openIndex(t, folder);
  await index.update();
  for (const suffix of ['', '-wal', '-shm'])
    assert.equal(statSync(`${folder.file}${suffix}`).mode & 0o777, 0o600, suffix);
});

test('a query is data: operators, quotes and NUL bytes of FTS5 neither fail nor select', async (t) => {
  const folder = makeFolder(t);
  folder.write('a.txt', 'alpha beta');
  folder.write('b.txt', 'gamma');
  const index = await openIndex(t, folder);
  await index.update();
  for (const query of [
    'alpha NOT beta',
    '"alpha',
    'alpha"',
    'NEAR(alpha beta, 1)',
    'alpha*',
    'body : alpha',
    '{title}: alpha',
    '^alpha',
    '-alpha',
    'alpha AND zzz',
    "alpha'; DROP TABLE files; --",
    'alpha\0beta',
    '(alpha',
    'alpha)',
    'rank:alpha',
    '\ud800 alpha',
    '٣ alpha',
    'alpha \\ %',
  ])
    assert.deepEqual(paths(await index.search(query)), ['a.txt'], query);
  for (const query of ['', '"', '*', '""""', '\0', 'NEAR(', ')(', '???'])
    assert.deepEqual(paths(await index.search(query)), [], query);
  assert.deepEqual(
    paths(await index.search(`${'word '.repeat(100_000)} alpha`)),
    [],
    'the end of a very long query is not read',
  );
  assert.equal((await index.counts()).files, 2);
});

test('hostile names and contents are indexed as text: line breaks and bidi characters in names, NUL bytes late in a file, one very long line', async (t) => {
  const folder = makeFolder(t);
  folder.write('new\nline.txt', 'needle one');
  folder.write('\u202Etxt.exe', 'needle two');
  folder.write('quote\'"%.txt', 'needle three');
  folder.write('nul.txt', `needle four ${'a '.repeat(5000)}\0 tail`);
  folder.write('long.txt', `needle ${'x'.repeat(3_000_000)} haystack`);
  folder.write('empty.txt', '');
  folder.write('utf16.txt', Buffer.from('\ufeffneedle five', 'utf16le'));
  const index = await openIndex(t, folder);
  const report = await index.update();
  assert.equal(report.files, 7);
  assert.deepEqual(
    new Set(paths(await index.search('needle'))),
    new Set(['new\nline.txt', '\u202Etxt.exe', 'quote\'"%.txt', 'nul.txt', 'long.txt', 'utf16.txt']),
  );
  assert.deepEqual(paths(await index.search('haystack')), ['long.txt']);
  assert.deepEqual((await index.search('haystack')).hits[0]?.source.lines, [1, 1]);
});

test('a folder that is gone is an error, and its index is kept', async (t) => {
  const folder = makeFolder(t);
  folder.write('a.txt', 'words');
  const index = await openIndex(t, folder);
  await index.update();
  renameSync(folder.root, `${folder.root}-moved`);
  const isNoFolder = (error: unknown): boolean =>
    error instanceof FairleadError && error.code === 'retrieval/no-folder';
  await assert.rejects(index.update(), isNoFolder);
  await assert.rejects(index.search('words'), isNoFolder);
  renameSync(`${folder.root}-moved`, folder.root);
  assert.deepEqual(paths(await index.search('words')), ['a.txt']);
  assert.throws(() => createDocumentIndex({ root: '/nonexistent/x', storage: undefined as never }), isNoFolder);
});

test('a damaged index file is replaced with one notice, and is complete after the next update; a database of another program is refused', async (t) => {
  const folder = makeFolder(t);
  for (let i = 0; i < 300; i += 1) folder.write(`f${i}.txt`, `words number${i} ${'text '.repeat(200)}`);
  const first = createDocumentIndex({ root: folder.root, storage: await openSqliteStorage(folder.file) });
  await first.update();
  await first.close();
  // No header at all, then pages in the middle.
  for (const damage of [
    (): void => writeFileSync(folder.file, 'this is no database, and it is long enough to be read as one'.repeat(40)),
    (): void => {
      const bytes = readFileSync(folder.file);
      bytes.fill(0x5a, 4096, bytes.length - 100);
      writeFileSync(folder.file, bytes);
    },
  ]) {
    damage();
    const index = createDocumentIndex({ root: folder.root, storage: await openSqliteStorage(folder.file) });
    const report = await index.update();
    const again = await index.update();
    assert.deepEqual(
      [...new Set([...report.notices, ...again.notices])],
      ['The index file was damaged and is built again.'],
    );
    assert.deepEqual(paths(await index.search('number7')), ['f7.txt']);
    assert.equal((await index.counts()).files, 300);
    await index.close();
  }
  const { DatabaseSync } = await import('node:sqlite');
  const foreign = path.join(path.dirname(folder.file), 'foreign.db');
  const db = new DatabaseSync(foreign);
  db.exec('CREATE TABLE mine (a); INSERT INTO mine VALUES (1)');
  db.close();
  await assert.rejects(
    openSqliteStorage(foreign),
    (error: unknown) => error instanceof FairleadError && error.code === 'retrieval/foreign-file',
  );
});

/** A process that indexes a folder again and again. */
const indexer = `
import { createDocumentIndex, openSqliteStorage } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)};
const [root, file, endless] = process.argv.slice(2);
const index = createDocumentIndex({ root, storage: await openSqliteStorage(file) });
process.send('started');
do await index.update(); while (endless === 'endless');
await index.close();
process.disconnect();
`;

test('two processes index a folder at the same time, and one that is killed leaves a consistent index', async (t) => {
  const folder = makeFolder(t);
  for (let i = 0; i < 600; i += 1)
    folder.write(`d${i % 7}/f${i}.md`, `# File ${i}\n${`content of number${i} `.repeat(20)}`);
  const script = path.join(path.dirname(folder.root), 'indexer.ts');
  writeFileSync(script, indexer);
  const start = (mode: string) =>
    fork(script, [folder.root, folder.file, mode], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const both = [start('once'), start('once')];
  const codes = await Promise.all(both.map(async (child) => (await once(child, 'exit'))[0] as number));
  assert.deepEqual(codes, [0, 0]);
  const check = async (): Promise<void> => {
    const index = createDocumentIndex({ root: folder.root, storage: await openSqliteStorage(folder.file) });
    await index.update();
    const counts = await index.counts();
    assert.deepEqual([counts.files, counts.passages], [600, 600]);
    for (const i of [0, 99, 333, 599])
      assert.deepEqual(paths(await index.search(`number${i}`)), [`d${i % 7}/f${i}.md`]);
    await index.close();
    const { DatabaseSync } = await import('node:sqlite');
    const db = new DatabaseSync(folder.file);
    assert.deepEqual({ ...db.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
    db.exec("INSERT INTO words(words) VALUES ('integrity-check')");
    db.close();
  };
  await check();
  for (const delay of [0, 15, 40, 80]) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${folder.file}${suffix}`, { force: true });
    const child = start('endless');
    await once(child, 'message');
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill('SIGKILL');
    await once(child, 'exit');
    await check();
  }
});

test('a file that is written all the time is either indexed with a content it really had, or left out', async (t) => {
  const folder = makeFolder(t);
  folder.write('a.txt', 'stable needle');
  const index = await openIndex(t, folder);
  const script = path.join(path.dirname(folder.root), 'writer.mjs');
  writeFileSync(
    script,
    `import fs from 'node:fs'; let i = 0; process.on('disconnect', () => process.exit()); setInterval(() => { for (let n = 0; n < 50; n++) fs.writeFileSync(process.argv[2], ('needle' + (i++) + ' ').repeat(3000)); }, 0);`,
  );
  const child = fork(script, [path.join(folder.root, 'busy.txt')]);
  try {
    for (let round = 0; round < 20; round += 1) {
      await index.update();
      const { hits } = await index.search('needle');
      for (const { text, source } of hits)
        if (source.path === 'busy.txt') assert.equal(new Set(text.trim().split(' ')).size, 1);
      assert.ok(hits.some(({ source }) => source.path === 'a.txt'));
    }
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
});
