// Attacks that try to stop the process or the page with input: schemas, headers and Markdown. The work stays bounded.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createValidator } from '../src/agent/index.ts';
import { FairleadError, type Json, type JsonObject, type ToolContext } from '../src/core/index.ts';
import { holdPlaceholders, isPlaceholder } from '../src/guards/sandbox/placeholders.ts';
import { startEgressProxy } from '../src/guards/sandbox/egress.ts';
import { findNewPackages } from '../src/guards/policy/unknown-packages.ts';
import { findSimilarRegion } from '../src/tools/fuzzy-match.ts';
import { parseIgnoreFile } from '../src/core/ignore-file.ts';
import { applyPatch } from '../src/tools/patch/apply-patch.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { parseMarkdown } from '../src/core/markdown/index.ts';
import { assertAttack } from './support/attack-report.ts';

/** A schema whose references double the work at each level. */
function doublingSchema(levels: number): JsonObject {
  const ref = (level: number): JsonObject => ({ $ref: `#/$defs/a${level}` });
  const doubled = Array.from({ length: levels }, (_, level) => [
    `a${level}`,
    { allOf: [ref(level + 1), ref(level + 1)] },
  ]);
  return { $defs: Object.fromEntries([...doubled, [`a${levels}`, { type: 'object' }]]) as JsonObject, ...ref(0) };
}

function nestedValue(levels: number): Json {
  let value: Json = {};
  for (let level = 0; level < levels; level++) value = { x: value };
  return value;
}

test('[attack 97] a schema whose validation does not end is refused or aborted', { timeout: 60_000 }, (t) => {
  assert.throws(
    () => createValidator(doublingSchema(40)),
    (error) => error instanceof FairleadError && /more than 10000 schemas/.test(error.message),
  );
  const slow: readonly (readonly [JsonObject, Json])[] = [
    [{ type: 'string', format: 'url' }, `http://${'a'.repeat(60)}\n`],
    [{ type: 'string', pattern: '^(a|a)*$' }, `${'a'.repeat(60)}b`],
    [
      {
        $defs: {
          tree: {
            properties: {
              x: { anyOf: [{ $ref: '#/$defs/tree' }, { $ref: '#/$defs/tree' }], not: { $ref: '#/$defs/tree' } },
            },
          },
        },
        $ref: '#/$defs/tree',
      },
      nestedValue(100),
    ],
  ];
  for (const [schema, value] of slow) {
    const error = createValidator(schema)(value);
    assert.match(error ?? '', /takes too long/, JSON.stringify(schema));
  }
  assertAttack(t, 97, ['contained'], `${slow.length + 1} schemas`);
});

test('a schema with many references that do not multiply is compiled', () => {
  const { $defs, $ref } = doublingSchema(10);
  assert.equal(createValidator({ $defs: $defs ?? {}, $ref: $ref ?? '' })({}), undefined);
});

/** Starts a server that answers every request with these bytes. */
async function startRawServer(t: TestContext, answer: string): Promise<number> {
  const server = createServer((socket) =>
    socket.on('error', () => socket.destroy()).once('data', () => socket.end(answer, 'latin1')),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends one raw request to the proxy and resolves when the connection is closed. */
const sendRaw = (socketPath: string, request: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(socketPath, () => socket.write(request, 'latin1'));
    let text = '';
    socket.setTimeout(5000, () => socket.destroy());
    socket.on('data', (bytes) => (text += String(bytes)));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(text));
  });

test(
  '[attack 102] headers of a command or of a host do not crash the egress proxy',
  { timeout: 120_000 },
  async (t) => {
    const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi';
    const answers = [
      'HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\nhi',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTrailer: x\r\n\r\nhi',
      'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      'HTTP/1.1 1000 X\r\nContent-Length: 2\r\n\r\nhi',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\nzz\r\n',
      'HTTP/1.1 200 \x00\r\nX: \xff\r\n\r\n',
    ];
    const port = await startRawServer(t, ok);
    const ports = await Promise.all(answers.map((answer) => startRawServer(t, answer)));
    const proxy = await startEgressProxy({
      hosts: [port, ...ports].map((each) => `localhost:${each}`),
      isPublic: () => true,
    });
    t.after(() => proxy.close());
    const requestHeaders = [
      'Trailer: x',
      'Transfer-Encoding: chunked\r\nTrailer: x',
      'Expect: 100-continue\r\nTrailer: y\r\nContent-Length: 0',
      'Connection: upgrade\r\nUpgrade: websocket',
      'Connection: x-a, close\r\nX-A: 1\r\nTE: trailers',
      'Keep-Alive: x\r\nProxy-Connection: y',
    ];
    for (const header of requestHeaders)
      await sendRaw(proxy.socket, `POST http://localhost:${port}/ HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n0\r\n\r\n`);
    for (const each of ports)
      await sendRaw(proxy.socket, `GET http://localhost:${each}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    for (const line of [
      'GET http://localhost:99999/ HTTP/1.1',
      'CONNECT localhost HTTP/1.1',
      'CONNECT : HTTP/1.1',
      'OPTIONS * HTTP/1.1',
      'GET http://localhost/\xff\xfe HTTP/1.1',
    ])
      await sendRaw(proxy.socket, `${line}\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const after = await sendRaw(
      proxy.socket,
      `GET http://localhost:${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    assertAttack(
      t,
      102,
      [/^HTTP\/1\.1 200[^]*hi$/.test(after) ? 'contained' : 'done'],
      `${requestHeaders.length + ports.length + 5} requests`,
    );
  },
);

test('[attack 116] Markdown that is made to be slow is parsed in linear time', { timeout: 60_000 }, (t) => {
  const units = [
    '`',
    '``a`',
    '*a ',
    '**a ',
    '_a ',
    '__a ',
    '~~a ',
    '[',
    '![',
    '[](',
    '[a](b ',
    'http://',
    '<http://.',
    '\\',
    ' ',
    '# ',
    '#',
    '- ',
    '> ',
    '|-',
    '1. ',
  ];
  // With quadratic work each of these texts takes seconds, and all of them many minutes.
  for (const unit of units)
    parseMarkdown(Array.from({ length: 30 }, () => `(${unit.repeat(Math.floor(19_900 / unit.length))}`).join('\n\n'));
  parseMarkdown('```\n'.repeat(60_000));
  parseMarkdown(`# ${' '.repeat(100_000)}x`);
  assertAttack(t, 116, ['contained'], `${units.length + 2} texts of up to 600 kB`);
});

function createFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-bounds-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('[attack 127] the patterns of an ignore file are compared with a name in a bounded number of steps', (t) => {
  const pattern = `${'*a'.repeat(7)}*b`;
  const counter = { steps: 0 };
  const isIgnored = parseIgnoreFile(`${`${pattern}\n`.repeat(9999)}plain`, counter);
  assert.equal(isIgnored('plain', false), true);
  const before = counter.steps;
  assert.equal(isIgnored('a'.repeat(255), false), undefined);
  assert.ok(counter.steps - before < 2_100_000, `${counter.steps - before} steps`);
  assertAttack(t, 127, ['contained'], `${counter.steps - before} steps`);
});

test(
  '[attack 128] a patch or an edit whose place takes too long to find is refused',
  { timeout: 120_000 },
  async (t) => {
    const folder = createFolder(t);
    const workspace = localWorkspace({ roots: [folder] });
    writeFileSync(path.join(folder, 'f'), 'a\n'.repeat(40_000));
    await workspace.read('f');
    const hunk = `${' a\n'.repeat(20_000)}-x\n`;
    const patch = `--- f\n+++ f\n@@ -1,20001 +1,20000 @@\n${hunk}`;
    const apply = async () => applyPatch(workspace).execute({ paths: ['f'], patch }, {} as ToolContext);
    await assert.rejects(apply, /takes too long to find the hunks in f/);
    assert.equal(findSimilarRegion(`${'b'.repeat(4000)}\n`.repeat(8000), 'b'.repeat(100_000)), undefined);
    const line = 'b'.repeat(4000);
    assert.equal(findSimilarRegion(`${line}\n`.repeat(400), `${line}c\n`.repeat(400))?.from, 1);
    assertAttack(t, 128, ['contained']);
  },
);

test(
  '[attack 137] the packages of a command are looked up in the words of the lockfile',
  { timeout: 120_000 },
  async (t) => {
    const cwd = createFolder(t);
    const entries = Array.from({ length: 20_000 }, (_, i) => `"node_modules/@s/known-${i}": { "version": "1.0.${i}" }`);
    writeFileSync(path.join(cwd, 'package-lock.json'), `{${entries.join(',\n')}}`);
    const names = Array.from({ length: 500 }, (_, i) => `new${i}`);
    const context = { cwd, home: cwd, locate: (file: string) => path.resolve(cwd, file) };
    const find = async (command: string) =>
      (await findNewPackages({ tool: 'run_command', input: { command } }, context)).unknownNames;
    assert.equal((await find(`npm i @s/known-7 ${names.join(' ')}`)).length, names.length);
    assert.deepEqual(await find('npm i @s/known-19999 @s/known.7 known-7'), ['@s/known.7', 'known-7']);
    assertAttack(t, 137, ['contained'], `${names.length} names`);
  },
);

test(
  '[attack 139] a git configuration that is a pipe, a device or a huge file is not read',
  { timeout: 60_000 },
  (t) => {
    const kinds: Readonly<Record<string, (file: string) => void>> = {
      pipe: (file) => void execFileSync('mkfifo', [file]),
      device: (file) => symlinkSync('/dev/zero', file),
      huge: (file) => {
        writeFileSync(file, '');
        truncateSync(file, 3 * 2 ** 30);
      },
    };
    for (const [kind, create] of Object.entries(kinds)) {
      const folder = createFolder(t);
      const git = path.join(folder, '.git');
      mkdirSync(git);
      for (const name of ['config', 'commondir']) create(path.join(git, name));
      const held = holdPlaceholders([folder]);
      assert.ok(
        held.locations.includes(path.join(git, 'config.worktree')),
        `${kind}: what cannot be read counts as set`,
      );
      assert.equal(isPlaceholder(path.join(git, 'commondir')), false, kind);
      held.release();
    }
    assertAttack(t, 139, ['contained']);
  },
);
