// Tests the default policy of data loss prevention, answers that are redacted while they are written, and what the user wrote.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createPersistentList, toArray, type Chunk, type ModelRequest, type Provider } from '../../core/index.ts';
import { createGuardedText } from './answer-stream.ts';
import {
  createAuditBuffer,
  createDlpGate,
  createDlpPolicy,
  createDlpProvider,
  createDlpScanner,
  createPrivateValues,
} from './index.ts';
import { replaceInRequest } from './scan-request.ts';

const iban = 'DE89370400440532013000';

/** A model that is not local, and the messages of the requests that it got. */
function createCloudModel(): { readonly cloud: Provider; readonly seen: string[] } {
  const seen: string[] = [];
  const cloud: Provider = {
    family: 'test',
    model: 'cloud',
    async *stream({ messages }): AsyncIterable<Chunk> {
      seen.push(JSON.stringify(messages.items));
      const message = { role: 'assistant', parts: [] } as const;
      yield { type: 'end', message, finishReason: 'stop', usage: {}, model: 'cloud' };
    },
  };
  return { cloud, seen };
}

test('[A115] by default secrets and numbers with check digits become tokens, and e-mail addresses and phone numbers are counted', async () => {
  const { cloud, seen } = createCloudModel();
  const provider = createDlpProvider(cloud, { policy: createDlpPolicy(), audit: createAuditBuffer() });
  const key = ['ghp', 'R7kQ2mX9vB4nT6wY1zC8dF3gH5jL0pSaEuIo'].join('_');
  const text = `Pay ${iban}, ask anna.schmidt@firma-mail.de, use ${key}`;
  const request = { system: '', messages: createPersistentList([{ role: 'user', parts: [{ type: 'text', text }] }]) };
  const chunks: Chunk[] = [];
  for await (const chunk of provider.stream(request as unknown as ModelRequest, new AbortController().signal))
    chunks.push(chunk);
  assert.doesNotMatch(seen.join(' '), new RegExp(`${iban}|${key}`));
  assert.match(seen.join(' '), /anna\.schmidt@firma-mail\.de/);
  const end = chunks.find((chunk) => chunk.type === 'end');
  assert.deepEqual(
    end?.annotations?.map(({ value }) => value),
    [
      { way: 'model', action: 'redact', counts: { iban: 1, 'repository token': 1 }, to: 'cloud' },
      { way: 'model', action: 'observe', counts: { email: 1 }, to: 'cloud' },
    ],
  );
});

test('[A115] a value that the user wrote may be used in a call; one that is marked private may not', async () => {
  const tools = new Map([['send', { effect: 'external' }]] as const);
  const decide = (policy: Parameters<typeof createDlpPolicy>[0], body: string): unknown =>
    createDlpGate({
      policy: createDlpPolicy(policy),
      tools,
      canAsk: () => true,
      audit: createAuditBuffer(),
      isFromUser: (value) => value === iban || value === 'Karla Blumfeld',
    })({ id: 'c', tool: 'send', input: { body } }, { session: 's' } as never);
  assert.deepEqual(decide({}, `Pay ${iban}`), { type: 'allow' });
  assert.equal((decide({}, 'Pay DE75512108001245126199') as { type: string }).type, 'ask');
  assert.equal(
    (decide({ values: { patient: 'Karla Blumfeld' } }, 'For Karla Blumfeld') as { type: string }).type,
    'ask',
  );
  assert.equal((decide({ action: 'block' }, `Pay ${iban}`) as { type: string }).type, 'deny');
});

test('[A115] a long answer is shown while it is written, without what must not leave, however it is divided', async () => {
  const filler = 'All transfers of this month are listed below, each with its account. '.repeat(30);
  const text = `${filler}${iban} ${filler}BSN 111222333 and ${iban.match(/.{4}/g)?.join(' ') ?? ''}00.`;
  const expected = createDlpScanner().redact(text, (_, { kind }) => `[removed: ${kind}]`);
  for (const size of [1, 7, 64, 1000]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
      text.slice(i * size, (i + 1) * size),
    );
    const guarded = createGuardedText(createDlpScanner(), (_, { kind }) => `[removed: ${kind}]`);
    const shown = pieces.map((piece) => guarded.add(piece));
    assert.equal([...shown, guarded.end()].join(''), expected, String(size));
    assert.ok(shown.filter((each) => each !== '').length > 1, 'it is shown in parts');
  }
  const key = `-----BEGIN PRIVATE KEY-----\n${'A1b2C3d4'.repeat(300)}\n-----END PRIVATE KEY-----`;
  const guarded = createGuardedText(createDlpScanner(), (_, { kind }) => `[removed: ${kind}]`);
  const shown =
    `${filler}${key} end`
      .split('')
      .map((piece) => guarded.add(piece))
      .join('') + guarded.end();
  assert.doesNotMatch(shown, /A1b2C3d4/);
  assert.match(shown, /end$/);
});

test('[A115] reasoning that a provider signed is sent as it was', async () => {
  const part = { type: 'reasoning', text: `The account ${iban}`, meta: { cloud: { signature: 's' } } } as const;
  const request = { messages: [{ role: 'assistant', parts: [part] }] } as const;
  const changed = replaceInRequest(
    { system: '', messages: createPersistentList(request.messages) } as never,
    new WeakMap(),
    () => 'changed',
  );
  assert.deepEqual(toArray(changed.messages)[0]?.parts, [part]);
});

test('[A115] a private value is found with other separators, in compatibility forms and with invisible characters, on whole words', () => {
  const values = createPrivateValues([['case', 'Case 47-110 815']]);
  for (const text of [
    'case 47110815',
    'CASE47-110815',
    'Ｃａｓｅ 47.110.815',
    'ca\u200bse 47/110/815',
    'x (Case 47-110 815) y',
  ])
    assert.equal(values.find(text).length > 0, true, text);
  for (const text of ['showcase 47110815', 'case 471108159', 'case 47 110'])
    assert.deepEqual(values.find(text), [], text);
});

test('[A115] a value that is marked during a session is replaced in all messages of the next request', async () => {
  const { cloud, seen } = createCloudModel();
  const marked = createPrivateValues();
  const provider = createDlpProvider(cloud, {
    policy: createDlpPolicy({}, undefined, marked),
    audit: createAuditBuffer(),
  });
  const request = {
    system: '',
    session: 's',
    messages: createPersistentList([{ role: 'user', parts: [{ type: 'text', text: 'About Karla Blumfeld' }] }]),
  } as unknown as ModelRequest;
  const send = async (): Promise<void> => {
    for await (const _chunk of provider.stream(request, new AbortController().signal));
  };
  await send();
  assert.match(seen[0] ?? '', /Karla Blumfeld/);
  assert.ok(marked.add('patient', 'Karla Blumfeld'));
  await send();
  assert.match(seen[1] ?? '', /About PRIVATE_PATIENT_1_/);
  assert.doesNotMatch(seen[1] ?? '', /Karla/);
});
