// Redaction of secrets in texts: what is found, what is unchanged, and that no text makes it slow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolOutput, type Json, type Tool, type ToolContext } from '../../core/index.ts';
import { withRedaction } from './redact-tool.ts';
import { noRedaction, createRedactor, type Redactor } from './redactor.ts';

const randomLetters = (count: number, alphabet = 'aZ3kQ9xLm2Rt7VbN5cYw8HdP4sJf6GgT'): string =>
  Array.from({ length: count }, (_, at) => alphabet[(at * 7 + (at >> 3)) % alphabet.length]).join('');
const hex = (count: number): string => randomLetters(count, '0f3a9c5e7b1d2846');

test('[attack 87] keys of well-known services are recognized by their format, anywhere in a text', (t) => {
  const keys = [
    `AKIA${randomLetters(16, 'QZ2RT7VBN5CYWHDP')}`,
    `ghp_${randomLetters(36)}`,
    `github_pat_${randomLetters(62)}`,
    `glpat-${randomLetters(20)}`,
    `xoxb-1234567890-${randomLetters(24)}`,
    `sk-ant-api03-${randomLetters(80)}`,
    `sk-proj-${randomLetters(48)}`,
    `AIza${randomLetters(35)}`,
    `hf_${randomLetters(34, 'aZkQxLmRtVbNcYwHdPsJf')}`,
    `npm_${randomLetters(36)}`,
    `sk_live_${randomLetters(24)}`,
    `SG.${randomLetters(22)}.${randomLetters(43)}`,
    `eyJ${randomLetters(30)}.eyJ${randomLetters(40)}.${randomLetters(43)}`,
    `dop_v1_${hex(64)}`,
    `123456789:A${randomLetters(34)}`,
  ];
  const redactor = createRedactor();
  let found = 0;
  for (const key of keys) {
    for (const around of ['', '"', "'", '\n', ' ']) {
      const told = redactor.redact(`before=${around}${key}${around} after`);
      assert.ok(!told.includes(key.slice(-12)), told);
      assert.match(told, /before=.*\[redacted: [^\]]+\].* after/s);
    }
    found++;
  }
  t.diagnostic(`measured secrets-found ${found}/${keys.length}`);
});

test('[attack 87] a value assigned to a secret name is redacted if it looks like a secret', () => {
  const redactor = createRedactor();
  const value = randomLetters(24);
  for (const line of [
    `API_KEY=${value}`,
    `"client_secret": "${value}"`,
    `db.password: ${value}`,
    `export STRIPE_TOKEN='${value}'`,
    `Authorization: Bearer ${value}`,
    `{\\"accessKey\\":\\"${value}\\"}`,
    `https://me:${value}@example.com/x`,
    `curl -s -u me:${value} https://example.com`,
  ])
    assert.ok(!redactor.redact(line).includes(value), line);
});

test('[attack 87] a private key is redacted completely, also if its end is missing', () => {
  const redactor = createRedactor();
  const lines = Array.from({ length: 9 }, () => randomLetters(64));
  const key = ['-----BEGIN RSA PRIVATE KEY-----', ...lines, '-----END RSA PRIVATE KEY-----'].join('\n');
  assert.equal(redactor.redact(`a\n${key}\nb`), 'a\n[redacted: private key]\nb');
  assert.equal(redactor.redact(`a\n${key.slice(0, 300)}\n! b`), 'a\n[redacted: private key]\n! b');
  assert.equal(redactor.redact(JSON.stringify({ key })), '{"key":"[redacted: private key]"}');
});

test('ordinary text of users and programs is unchanged', () => {
  const redactor = createRedactor([
    ['USER_PASS', 'true'],
    ['SSH_AUTH_SOCK', '/tmp/ssh-x/agent.12'],
    ['PIN', '123456'],
  ]);
  for (const text of [
    'commit 3f786850e387550fdab836ed7e6dc881de23001b',
    '"integrity": "sha512-Kb3oVwE2yJwqXW0cnJ3Nq0fbjuJw9f1qUJgE0v8Qy1hJx2R3mYw=="',
    'session 0190b3c2-7d1e-7c3a-9f2b-5a1d3e4f6a7b',
    'const token = await nextTokenOf(stream);',
    'password: string; tokenCount: number; apiKey = process.env.API_KEY2',
    'progressToken: ProgressTokenSchema,',
    'PASSWORD=your-password-here TOKEN=${TOKEN2} KEY=<key>',
    "if (text.startsWith('-----BEGIN PRIVATE KEY-----')) return;",
    'http://127.0.0.1:8080/a@b',
    'it is true: 123456 in /tmp/ssh-x/agent.12',
    'sk-button-primary-hover-and-focus-visible',
  ])
    assert.equal(redactor.redact(text), text);
});

test('[attack 87] a known secret is redacted under its name in every encoding that programs use', () => {
  const value = 'p"ss/w rd+1';
  const redactor = createRedactor([
    ['DB_PASSWORD', value],
    ['DATABASE_URL', 'postgres://me:hunter22222@db/x'],
  ]);
  for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), btoa(value).slice(0, -2)])
    assert.match(redactor.redact(`a ${form} b`), /^a \[redacted: DB_PASSWORD\]=* b$/);
  assert.equal(redactor.redact('a hunter22222 b'), 'a [redacted: DATABASE_URL] b');
  redactor.addSecret('MCP header', 'Bearer lovely-words-2');
  assert.equal(redactor.redact('say lovely-words-2'), 'say [redacted: MCP header]');
  assert.equal(noRedaction.redact(`a ${value}`), `a ${value}`);
});

const context = {} as ToolContext;
const toolWith = (run: Tool['execute'], effect: Tool['effect'] = 'write', name = 'tool'): Tool => ({
  name,
  description: '',
  input: {},
  effect,
  execute: run,
});
const runRedacted = (
  tool: Tool,
  redactor: Redactor,
  input: Json = {},
  more: Partial<ToolContext> = {},
): Promise<unknown> => Promise.resolve(withRedaction(tool, redactor).execute(input, { ...context, ...more }));

test('[attack 87] [A53] the result of confirm is redacted like tool output', async () => {
  const redactor = createRedactor([['KEY', 'very-secret-1']]);
  const tool = (confirm: NonNullable<Tool['checkOutcome']>): Tool =>
    withRedaction({ ...toolWith(() => 'x'), checkOutcome: confirm }, redactor);
  assert.equal(await tool(() => 'a very-secret-1').checkOutcome?.({}, context), 'a [redacted: KEY]');
  assert.equal(await tool(() => undefined).checkOutcome?.({}, context), undefined);
  assert.equal(await tool(() => false).checkOutcome?.({}, context), false);
  const failing = tool(() => Promise.reject(new Error('no very-secret-1')));
  await assert.rejects(async () => failing.checkOutcome?.({}, context), /no \[redacted: KEY\]/);
  assert.equal(
    'checkOutcome' in
      withRedaction(
        toolWith(() => 'x'),
        redactor,
      ),
    false,
  );
});

test('[attack 87] text, data, notes, errors and progress of a tool are redacted; text from the user is not', async () => {
  const redactor = createRedactor([['KEY', 'very-secret-1']]);
  const whole = toolOutput({
    text: 'a very-secret-1',
    data: { b: ['very-secret-1', 1] },
    notes: [{ key: 'k', text: 'very-secret-1' }],
  });
  const stand = '[redacted: KEY]';
  assert.deepEqual(
    await runRedacted(
      toolWith(() => whole),
      redactor,
    ),
    toolOutput({ text: `a ${stand}`, data: { b: [stand, 1] }, notes: [{ key: 'k', text: stand }] }),
  );
  assert.deepEqual(
    await runRedacted(
      toolWith(() => ({ c: 'very-secret-1' })),
      redactor,
    ),
    { c: stand },
  );
  assert.equal(
    await runRedacted(
      toolWith(() => 'very-secret-1'),
      redactor,
    ),
    stand,
  );
  const fails = toolWith(() => {
    throw new Error('not with very-secret-1');
  });
  await assert.rejects(runRedacted(fails, redactor), { message: `not with ${stand}` });
  const person = toolWith(() => 'very-secret-1', 'read', 'ask_user');
  assert.equal(await runRedacted(person, redactor), 'very-secret-1');
  const said: string[] = [];
  const talks = toolWith((_, { progress }) =>
    ['one\nvery-', 'secret-1\rtwo ', 'very-secret', '-1'].forEach((each) => progress?.(each)),
  );
  await runRedacted(talks, redactor, {}, { progress: (text) => void said.push(text) });
  assert.equal(said.join(''), `one\n${stand}\rtwo ${stand}`);
});

test('[attack 87] a tool that writes refuses input that contains a redaction placeholder', async () => {
  const redactor = createRedactor();
  const input = { edits: [{ content: 'KEY=[redacted: KEY]\n' }] };
  await assert.rejects(
    runRedacted(
      toolWith(() => 'done'),
      redactor,
      input,
    ),
    { code: 'secrets/placeholder' },
  );
  assert.equal(
    await runRedacted(
      toolWith(() => 'done', 'read'),
      redactor,
      input,
    ),
    'done',
  );
});

test('[attack 87] no text makes the search slow', { timeout: 120_000 }, () => {
  const redactor = createRedactor([['KEY', 'aaaaaaaaaaaaaaab']]);
  const pieces = [
    'a',
    '-',
    'eyJ-',
    '-eyJ',
    'eyJaaaaaaaaaa.',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\n-----END',
    'token',
    'token=',
    'token:aaaaaaaaaaa',
    'password=a1',
    '://',
    '://a:',
    '://a:b',
    'curl -u ',
    'authorization: bearer ',
    'SG.',
    'sk-a',
    '=',
    '_key',
    'secret"\'\'" ',
    's.',
    'ghp_aA1',
    '9:A',
    'xoxb-1-',
    'aB',
    '\u00e9\u{1f600}',
  ];
  for (const piece of pieces) redactor.redact(piece.repeat(1_000_000 / piece.length));
});
