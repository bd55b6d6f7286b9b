// Tests of the bounds of the GGUF header, and of the name of a model file.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync, existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { hasWeights, weightsFile } from './download-weights.ts';
import { readGgufHeader } from './gguf-header.ts';
import { describeHubFile, finishHubModel } from './hub-model.ts';

function createDir(t: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-gguf-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(path.join(dir, 'models'));
  return dir;
}

const u32 = (value: number): Buffer => {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value);
  return out;
};
const u64 = (value: bigint | number): Buffer => {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(value));
  return out;
};
const text = (value: string): Buffer => Buffer.concat([u64(value.length), Buffer.from(value)]);
const head = (entries: number): readonly Buffer[] => [Buffer.from('GGUF'), u32(3), u64(0), u64(entries)];

test('a list with an impossible number of items is an error at once, and reading ends with the signal', async (t) => {
  const file = path.join(createDir(t), 'a.gguf');
  const list = (items: bigint | number): Buffer =>
    Buffer.concat([...head(1), text('a'), u32(9), u32(8), u64(items), Buffer.alloc(200_000)]);
  writeFileSync(file, list(2n ** 64n - 1n));
  await assert.rejects(readGgufHeader(file), { code: 'embedded/not-loaded', cause: new Error('a list is too long') });
  writeFileSync(file, list(20_000));
  assert.deepEqual(await readGgufHeader(file), {});
  const reason = new Error('the user cancelled');
  await assert.rejects(readGgufHeader(file, AbortSignal.abort(reason)), reason);
});

const describe = (sha256: string, bytes: number): ReturnType<typeof describeHubFile> =>
  describeHubFile({ repo: 'a/b', path: 'm.gguf', url: 'https://hub.example/m.gguf', bytes, sha256, license: 'x' });

test('a file whose header states a context window that is too small is refused and deleted', async (t) => {
  const dir = createDir(t);
  const template = [text('tokenizer.chat_template'), u32(8), text('<|im_start|><|im_end|>')];
  const body = Buffer.concat([...head(2), ...template, text('x.context_length'), u32(4), u32(1), Buffer.alloc(1000)]);
  const model = describe('a'.repeat(64), body.length);
  writeFileSync(weightsFile(dir, model), body);
  await assert.rejects(finishHubModel('hf:a/b', dir, model), /its context window must be 256 tokens or more/);
  assert.ok(!existsSync(weightsFile(dir, model)));
});

test('a file with the same name and the same start of its hash is not taken for the model', async (t) => {
  const dir = createDir(t);
  const other = describe(`deadbeef${'0'.repeat(56)}`, 10);
  writeFileSync(weightsFile(dir, other), '0123456789');
  assert.equal(await hasWeights(dir, other), true);
  assert.equal(await hasWeights(dir, describe(`deadbeef${'f'.repeat(56)}`, 10)), false);
});
