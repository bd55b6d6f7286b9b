// Tests models of the Hugging Face hub as the embedded model, against a stand-in of the hub: metadata, hash, resume, token, mirror, templates and tool calls.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { closedUrl } from '../src/testing/index.ts';
import { createBareStart, type BareResult, type BareStart } from './support/bare-start.ts';
import { installFakeRuntime } from './support/fake-runtime.ts';
import { createGguf, jinja, serveHub, type HubRepo, type HubServer } from './support/hub-server.ts';

const name = 'Tiny-1B-Q8_0.gguf';
const tools: HubRepo = { files: { [name]: createGguf(jinja.tools) }, license: 'apache-2.0', chatTemplate: jinja.tools };

type Setting = {
  readonly bare: BareStart;
  readonly hub: HubServer;
  readonly run: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<BareResult>;
};

async function prepare(t: TestContext, repos: { readonly [name: string]: HubRepo }): Promise<Setting> {
  const bare = await createBareStart(t);
  installFakeRuntime(bare.data());
  const hub = await serveHub(t, repos);
  return { bare, hub, run: (args, env = {}) => bare.run(args, { HF_ENDPOINT: hub.url, ...env }) };
}

const downloads = ({ requests }: HubServer): HubServer['requests'] => requests.filter(({ host }) => host === 'storage');

const modelFiles = (bare: BareStart): readonly string[] =>
  existsSync(bare.data('models')) ? readdirSync(bare.data('models')).filter((file) => /\.(gguf|part)$/.test(file)) : [];

test('a model of the hub: its size and licence are shown, the file is verified against the hash of the hub, it answers, and later starts need no hub', async (t) => {
  const { bare, hub, run } = await prepare(t, { 'maker/Tiny-GGUF': tools });
  const first = await run(['--model', 'hf:maker/Tiny-GGUF:Q8_0', 'SAY:hello']);
  assert.deepEqual([first.code, first.out], [0, 'hello\n'], first.err);
  assert.match(
    first.err,
    /Tiny-1B-Q8_0 of maker\/Tiny-GGUF runs on this machine; it reads and edits files and runs commands\. Downloads 1 MB to .* \(license apache-2\.0\)\. Ctrl\+C cancels\./,
  );
  assert.match(modelFiles(bare).join(), /^Tiny-1B-Q8_0-[\da-f]{64}\.gguf$/);
  assert.equal(downloads(hub).length, 1);
  hub.requests.length = 0;
  const offline = { HF_ENDPOINT: await closedUrl() };
  const again = await run(['--model', 'embedded/hf:maker/Tiny-GGUF:Q8_0', 'SAY:again'], offline);
  assert.deepEqual([again.code, again.out], [0, 'again\n'], again.err);
  assert.doesNotMatch(again.err, /Downloads/);
  assert.equal(hub.requests.length, 0);
  assert.equal(bare.lastModel(), undefined, 'a one-shot changes no default');
  const resumed = await run(['--continue', 'SAY:resumed'], offline);
  assert.deepEqual([resumed.code, resumed.out], [0, 'resumed\n'], resumed.err);
});

test('a model with a tool format calls a tool of the agent with input that follows its schema, reads the result and answers', async (t) => {
  const { bare, run } = await prepare(t, { 'maker/Tiny-GGUF': tools });
  writeFileSync(path.join(bare.cwd, 'tide.txt'), 'High tide is at 14:20.\n');
  const prompt = 'SAY:I look.<tool_call> NAME=read_file INPUT={"path": "tide.txt"}';
  const { code, out, err } = await run(['--model', 'hf:maker/Tiny-GGUF', prompt]);
  assert.equal(code, 0, err);
  assert.match(err, /\[tool\] read_file tide\.txt/);
  assert.match(out, /The result was:[^]*High tide is at 14:20\./);
});

test('a cut connection keeps what has arrived: the next attempt resumes at the byte; HF_TOKEN is sent to the hub and never to the host that it redirects to', async (t) => {
  const { bare, hub, run } = await prepare(t, { 'maker/Gated-GGUF': { ...tools, token: 'hf_secret123' } });
  const env = { HF_TOKEN: 'hf_secret123' };
  hub.cutAfter = 100_000;
  const cut = await run(['--model', 'hf:maker/Gated-GGUF:Q8_0', 'SAY:hi'], env);
  assert.notEqual(cut.code, 0);
  assert.match(
    cut.err,
    /The connection broke while .*Tiny-1B-Q8_0\.gguf was being fetched\. Try again: it continues with what has arrived\./,
  );
  assert.equal(modelFiles(bare).filter((file) => file.endsWith('.part')).length, 1);
  const done = await run(['--model', 'hf:maker/Gated-GGUF:Q8_0', 'SAY:hi'], env);
  assert.deepEqual([done.code, done.out], [0, 'hi\n'], done.err);
  for (const { host, headers } of hub.requests)
    assert.equal(headers.authorization, host === 'hub' ? 'Bearer hf_secret123' : undefined, host);
  assert.deepEqual(
    downloads(hub).map(({ headers }) => headers.range),
    [undefined, 'bytes=100000-'],
  );
  assert.doesNotMatch(cut.err + cut.out + done.err + done.out, /hf_secret/);
  const kept = readdirSync(bare.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name: file } of kept)
    assert.ok(!readFileSync(path.join(parentPath, file)).includes('hf_secret'), file);
});

test('a wrong hash, a gated repository, a missing file, a split file and an unsupported template are one sentence each, and nothing is left', async (t) => {
  const split = 'Big-Q4_K_M-00001-of-00002.gguf';
  const { bare, hub, run } = await prepare(t, {
    'maker/Wrong-GGUF': { ...tools, sha256: 'a'.repeat(64) },
    'maker/Gated-GGUF': { ...tools, token: 'hf_other' },
    'maker/Split-GGUF': { ...tools, files: { [split]: createGguf(jinja.tools) } },
    'maker/Strange-GGUF': { ...tools, files: { [name]: createGguf(jinja.strange) }, chatTemplate: jinja.strange },
    'maker/Untold-GGUF': { files: { [name]: createGguf(undefined) } },
  });
  for (const [model, code, said, isDownloaded = false] of [
    [
      'Wrong-GGUF',
      1,
      /^What was fetched is not Tiny-1B-Q8_0: its sha256 is [\da-f]{64}\. Nothing of it was kept\./m,
      true,
    ],
    [
      'Gated-GGUF',
      1,
      /^127\.0\.0\.1:\d+ has no public repository maker\/Gated-GGUF: the name is wrong, or it needs a login \(HTTP 401\)\. .* set HF_TOKEN\./m,
    ],
    [
      'Wrong-GGUF:Q2_K',
      1,
      /^maker\/Wrong-GGUF has no model file for hf:maker\/Wrong-GGUF:Q2_K\. Its files: Tiny-1B-Q8_0\.gguf\./m,
    ],
    [
      'Split-GGUF',
      1,
      /^Big-Q4_K_M-00001-of-00002\.gguf of maker\/Split-GGUF is one part of a split model file, which is not supported\./m,
    ],
    ['Strange-GGUF', 1, /^Tiny-1B-Q8_0 has a chat template that is not supported\./m],
    ['Untold-GGUF', 1, /^Tiny-1B-Q8_0 has no chat template, so it cannot hold a conversation\./m, true],
    ['a/b/c:d', 1, /^"hf:maker\/a\/b\/c:d" is not the address of a model on the hub\./m],
  ] as const) {
    hub.requests.length = 0;
    const told = await run(['--model', `hf:maker/${model}`, 'SAY:hi']);
    assert.deepEqual([told.code, told.out], [code, ''], told.err);
    assert.match(told.err, said);
    assert.equal(downloads(hub).length > 0, isDownloaded, model);
    assert.deepEqual(modelFiles(bare), [], model);
  }
  const refused = await run(['--model', 'hf:maker/Gated-GGUF', 'SAY:hi'], { HF_TOKEN: 'hf_mine' });
  assert.match(
    refused.err,
    /does not give maker\/Gated-GGUF to this token \(HTTP 401\)\. Accept its terms at http:\/\/127\.0\.0\.1:\d+\/maker\/Gated-GGUF/,
  );
  assert.doesNotMatch(refused.err, /hf_mine/);
});

test('a model without a tool format gets the tools that read, and calls one per message with values of the message', async (t) => {
  const { bare, run } = await prepare(t, { 'maker/Chat-GGUF': { files: { [name]: createGguf(jinja.chat) } } });
  const { code, out, err } = await run(['--model', 'hf:maker/Chat-GGUF', 'SAY:hello']);
  assert.equal(code, 0, err);
  assert.match(err, /\(license not stated\)/);
  assert.equal(out, 'hello\n');
  const [record = ''] = readdirSync(bare.data('models', 'hf'));
  const kept = JSON.parse(readFileSync(bare.data('models', 'hf', record), 'utf8')) as Record<string, unknown>;
  assert.deepEqual([kept['copiesValues'], kept['maxCallsPerMessage'], kept['contextWindow']], [true, 1, 8192]);
});

test('a mirror that is no hub, and an HF_ENDPOINT that is no URL, are named; the value is not shown', async (t) => {
  const { run } = await prepare(t, {});
  const bad = await run(['--model', 'hf:maker/Tiny-GGUF', 'hi'], { HF_ENDPOINT: 'https://user:hf_secret@host' });
  assert.match(bad.err, /^HF_ENDPOINT is not an http or https URL without a user name\./m);
  assert.doesNotMatch(bad.err, /hf_secret/);
  const closed = await run(['--model', 'hf:maker/Tiny-GGUF', 'hi'], { HF_ENDPOINT: await closedUrl() });
  assert.match(
    closed.err,
    /^There is no connection to fetch the list of files of maker\/Tiny-GGUF \(ECONNREFUSED\)\./m,
  );
});
