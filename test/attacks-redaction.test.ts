// Attacks on the redaction by secrets in pieces, in names of fields, and in encodings that depend on their position.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, Tool, ToolContext } from '../src/core/index.ts';
import { createRedactor, withRedaction } from '../src/guards/index.ts';
import { assertAttack } from './support/attack-report.ts';

const secret = 'tulip7-Meadow/quiet+River42';
const wrapped = `first-line-of-it\n${'k'.repeat(40)}\nlast-line-of-it`;
const redactor = createRedactor([
  ['GARDEN_KEY', secret],
  ['WRAPPED', wrapped],
]);

/** Runs a tool that reports these pieces; returns all its progress and its result. */
async function run(pieces: readonly string[], result: Json = ''): Promise<{ readonly shown: string; result: unknown }> {
  let shown = '';
  const tool: Tool = {
    name: 'run_command',
    description: '',
    input: {},
    effect: 'write',
    execute: (_, { progress }) => {
      for (const piece of pieces) progress?.(piece);
      return result;
    },
  };
  const context = { progress: (text: string) => void (shown += text) } as unknown as ToolContext;
  return { result: await withRedaction(tool, redactor).execute({}, context), shown };
}

test('[attack 158] a secret that is written in pieces of a long line is not in the progress', async (t) => {
  const text = (before: number): string => `${'x'.repeat(before)} ${secret} ${'y'.repeat(9000)} ${secret}!`;
  for (const before of [0, 1, 4080, 4096, 8150, 8180, 8191, 8192, 8193, 12_300])
    for (const size of [1, 13, 1000, 4096, 8192]) {
      const whole = text(before);
      const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
        whole.slice(at * size, (at + 1) * size),
      );
      const { shown } = await run(pieces);
      assert.equal(
        shown,
        whole.replaceAll(secret, '[redacted: GARDEN_KEY]'),
        `${before} characters, pieces of ${size}`,
      );
    }
  assertAttack(t, 158, ['blocked']);
});

test('[attack 158] a secret of several lines, or with breaks and terminal sequences inside, is not in the progress', async (t) => {
  const lines = (text: string): readonly string[] => text.split(/(?<=\n)/);
  const { shown } = await run(lines(`a\n${wrapped}\nb\n`));
  assert.equal(shown, 'a\n[redacted: WRAPPED]\nb\n');
  const broken = `${secret.slice(0, 9)}\n${secret.slice(9, 15)}\u001b[31m${secret.slice(15)}`;
  assert.equal((await run(lines(`a ${broken} b\n`))).shown, 'a [redacted: GARDEN_KEY] b\n');
  // Text that only starts like a secret is shown, with all that follows.
  const similar = `${secret.slice(0, 9)}\n\n\n${secret.slice(0, 9)}x\nend`;
  assert.equal((await run(lines(similar))).shown, similar);
  const flood = `${secret.slice(0, 9)}${'\n'.repeat(20_000)}z`;
  assert.equal((await run(lines(flood))).shown, flood);
  assertAttack(t, 158, ['blocked']);
});

test('[attack 158] a private key that is longer than a line may be is not in the progress', async (t) => {
  const body = Array.from({ length: 150 }, (_, at) => `${'AbCd0123'.repeat(7)}${String(at).padStart(8, '0')}\n`);
  const { shown } = await run(['a\n-----BEGIN PRIVATE KEY-----\n', ...body, '-----END PRIVATE KEY-----\n', 'b\n']);
  assert.equal(shown, 'a\n[redacted: private key]\nb\n');
  assertAttack(t, 158, ['blocked']);
});

test('[attack 158] the names of fields are redacted, and no field is lost', async (t) => {
  const input = {
    [secret]: 1,
    nested: [{ [`a ${secret}`]: secret, [encodeURIComponent(secret)]: 2, [secret]: 3 }],
  };
  const { result } = await run([], input);
  const text = JSON.stringify(result);
  assert.ok(!text.includes('Meadow'), text);
  assert.deepEqual(Object.values((result as { nested: [object] }).nested[0]), ['[redacted: GARDEN_KEY]', 2, 3]);
  const writes = withRedaction(
    { name: 'w', description: '', input: {}, effect: 'write', execute: () => 'done' },
    redactor,
  );
  await assert.rejects(async () => writes.execute({ '[redacted: GARDEN_KEY]': 1 }, {} as ToolContext), {
    code: 'secrets/placeholder',
  });
  assertAttack(t, 158, ['blocked']);
});

test('[attack 158] base64 at each position, in both alphabets and wrapped, and hexadecimal are recognised', (t) => {
  const texts = ['', 'u', 'ur', 'user:', 'admin:'].flatMap((before) => {
    const bytes = Buffer.from(`${before}${secret}\n`);
    const base64 = bytes.toString('base64');
    return [
      base64,
      bytes.toString('base64url'),
      base64.replaceAll(/.{16}/g, '$&\n'),
      JSON.stringify(base64.replaceAll(/.{16}/g, '$&\n')),
    ];
  });
  const hex = Buffer.from(secret).toString('hex');
  const all = [...texts, hex, hex.toUpperCase(), hex.replaceAll(/.{20}/g, '$&\r\n')];
  for (const text of all) {
    const redacted = redactor.redact(`a ${text} b`);
    assert.match(redacted, /^a .{0,12}\[redacted: GARDEN_KEY\]/s, text);
    const left = redacted.replaceAll(/[^A-Za-z0-9+/_-]|redacted|GARDEN_KEY/g, '');
    assert.ok(left.length <= 20, `${text} leaves ${left}`);
  }
  assertAttack(t, 158, ['blocked'], `${all.length} tried`);
});
