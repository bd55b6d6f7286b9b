// Tests of data loss prevention: what is found, tokens, policies, the provider and the gate.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createPersistentList, FairleadError, type Chunk, type ModelRequest, type Provider } from '../../core/index.ts';
import {
  createAuditBuffer,
  createDlpGate,
  createDlpPolicy,
  createDlpProvider,
  createDlpScanner,
  createDlpVault,
  createPrivateValues,
  findPersonalData,
  parseDlpPolicy,
} from './index.ts';

/** Published examples of numbers with valid check digits. */
const examples: Readonly<Record<string, readonly string[]>> = {
  iban: [
    'GB82 WEST 1234 5698 7654 32',
    'DE89370400440532013000',
    'FR14-2004-1010-0505-0001-3M02-606',
    'nl91abna0417164300',
  ],
  'payment-card': [
    '4111111111111111',
    '5555 5555 5555 4444',
    '3782-822463-10005',
    '6011111111111117',
    '30569309025904',
  ],
  'us-ssn': ['219-09-9999', 'SSN 219099999'],
  'ca-sin': ['SIN: 130 692 544'],
  'uk-nhs-number': ['NHS number 943 476 5919'],
  'uk-nino': ['AB 12 34 56 C', 'AB123456C'],
  'fr-nir': ['2 55 08 14 168 025 38', '255081416802538'],
  'de-tax-id': ['86 095 742 719', 'Steuer-ID 47036892816'],
  'nl-bsn': ['BSN 111222333'],
  'be-national-number': ['85.07.30-033.28'],
  'ch-ahv': ['756.9217.0769.85', '7569217076985'],
  'at-svnr': ['SVNR 1237 010180'],
  'pl-pesel': ['PESEL: 44051401359'],
  'se-personnummer': ['811228-9874'],
  'fi-hetu': ['131052-308T'],
  'dk-cpr': ['CPR 070761-4285'],
  'pt-nif': ['NIF 123456789'],
  'br-cpf': ['529.982.247-25', 'CPF 52998224725'],
  'in-aadhaar': ['Aadhaar 2341 2341 2346'],
  'cn-resident-id': ['11010519491231002X'],
  'za-id': ['ID 8001015009087'],
  'au-tfn': ['TFN 123 456 782'],
  'tr-kimlik': ['T.C. Kimlik 10000000146'],
  'es-dni': ['12345678Z', 'X1234567L'],
  'it-codice-fiscale': ['RSSMRA85T10A562S'],
  'ie-pps': ['PPS 1234567T'],
  'sg-nric': ['S1234567D'],
  'hk-id': ['A123456(3)'],
  'mx-curp': ['BOXW310820HNERXN09'],
  email: ['anna.schmidt@firma-mail.de', 'mailto:o.hara+news@mail.co.uk'],
  phone: ['+49 151 23456789', '+14155550132', 'phone: (415) 555-0132', 'Tel. 030 1234567'],
};

for (const [kind, texts] of Object.entries(examples))
  test(`[A115] ${kind} is found, in a sentence and in JSON`, () => {
    for (const text of texts)
      for (const [before, after] of [
        ['My data: ', ', thank you.'],
        ['{"a":"', '","b":1}'],
        ['', ''],
      ])
        assert.deepEqual(
          findPersonalData(`${before}${text}${after}`)
            .map((each) => each.kind)
            .filter((each) => each === kind),
          [kind],
          `${before}${text}${after}`,
        );
  });

test('[A115] a wrong check digit, a code, a date, a version, an address of a program or a file name is not personal data', () => {
  for (const text of [
    'DE89370400440532013001 GB82WEST12345698765433',
    '4111111111111112 4111 1111 1111 1112',
    '255081416802539 131052-308U 12345678A S1234567E',
    '1700000000000 2026-11-18T04:00:00.123456Z 10.0.0.1:8080 1.2.3-4',
    'git@github.com:a/b.git icon@2x.png getty@tty1.service a@example.com npm i pkg@1.2.3',
    '3fa85f64-5717-4562-b3fc-2c963f66afa6 0x4111111111111111 a4111111111111111',
    '+1 -1 1+12345 (12) 34567 100000000000000',
  ])
    assert.deepEqual(findPersonalData(text), [], text);
});

test('[A115] 1 MB of hostile text is scanned in linear time', { timeout: 60_000 }, () => {
  const scanner = createDlpScanner({
    patterns: [{ name: 'customer', pattern: 'KD-[0-9]{1,20}x' }],
    privateValues: createPrivateValues([['name', 'Anna Schmidt']]),
  });
  const size = 1_000_000;
  for (const piece of [
    '1 ',
    '1',
    '4111 ',
    '4',
    'a@',
    'a@a.',
    '@',
    'a.',
    '+1',
    '+1 (',
    '(',
    'DE12 ',
    'DE',
    'A1',
    '1-',
    '1.',
    'KD-1',
    'annas',
    'AAAAAA00A00A',
    '12345678-',
    'SSN 1',
    'tel ',
  ])
    scanner.find(piece.repeat(size / piece.length));
});

test('[A115] patterns of the user and private values are found; a pattern that could take super-linear time is refused', () => {
  const scanner = createDlpScanner({
    patterns: [{ name: 'customer number', pattern: 'KD-[0-9]{6}' }],
    privateValues: createPrivateValues([
      ['patient', 'Anna Schmidt'],
      ['code', 'Blue-Heron-77'],
    ]),
  });
  assert.deepEqual(
    scanner
      .find(`KD-123456, KD-1234567, ANNA SCHMIDT, annaschmidts, ${Buffer.from('Blue-Heron-77').toString('base64')}`)
      .map(({ kind }) => kind),
    ['customer number', 'patient', 'code'],
  );
  assert.equal(scanner.redact('I am Anna Schmidt.'), 'I am [redacted: patient].');
  for (const pattern of [
    '(a+)+',
    'a*',
    '(?:ab){2}',
    '(a)\\1',
    '(?=a)',
    'a{1,}',
    'a{1,999}',
    '[',
    '',
    'a?',
    'a{1,90}b{1,90}c{1,90}',
  ])
    assert.throws(
      () => createDlpScanner({ patterns: [{ name: 'bad', pattern }] }),
      { code: 'dlp/bad-pattern' },
      pattern,
    );
});

test('[A115] secrets are found by the patterns of redaction', () => {
  const [finding] = createDlpScanner().find('key ghp_16C7e42F292c6912E7710c838347Ae178B4a');
  assert.equal(finding?.category, 'secret');
});

test('[A115] tokens are stable and restored; those of another session are not', () => {
  const [vault, again, other] = ['s1', 's1', 's2'].map(createDlpVault);
  const token = vault?.tokenize('DE89', { kind: 'iban' }) ?? '';
  assert.equal(again?.tokenize('DE89', { kind: 'iban' }), token);
  assert.doesNotMatch(token, /DE89/);
  other?.tokenize('secret of another', { kind: 'iban' });
  assert.equal(vault?.restore(`a ${token} b`), 'a DE89 b');
  assert.equal(other?.restore(`a ${token} b`), `a ${token} b`);
});

const request = (text: string, session = 's'): ModelRequest => ({
  system: 'You help.',
  tools: [],
  messages: createPersistentList([{ role: 'user', parts: [{ type: 'text', text }] }]),
  toolChoice: 'auto',
  settings: {},
  session,
});

/** A model that sees a request, and answers with pieces of text and a tool call. */
function createSeeing(answer: (seen: string) => readonly string[]): Provider & { readonly seen: string[] } {
  const seen: string[] = [];
  return {
    family: 'test',
    model: 'cloud',
    seen,
    async *stream({ messages }): AsyncIterable<Chunk> {
      const sent = JSON.stringify(messages.items);
      seen.push(sent);
      const pieces = answer(sent);
      yield { type: 'part-started', index: 0, part: 'text' };
      for (const text of pieces) yield { type: 'part-delta', index: 0, text };
      yield { type: 'part-ended', index: 0 };
      const parts = [
        { type: 'text', text: pieces.join('') },
        { type: 'tool-call', id: 'c', tool: 'write_file', input: { content: [pieces.join('')] } },
      ] as const;
      yield {
        type: 'end',
        message: { role: 'assistant', parts },
        finishReason: 'tool-calls',
        usage: {},
        model: 'cloud',
      };
    },
  };
}

const iban = 'DE89370400440532013000';
/** Repeats the token that it sees, in pieces of three characters. */
const repeatToken = (seen: string): readonly string[] =>
  `Paid to ${/PRIVATE_\w+/.exec(seen)?.[0] ?? 'unknown'}.`.match(/[^]{1,3}/g) ?? [];

async function run(provider: Provider, text: string, session?: string): Promise<readonly Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of provider.stream(request(text, session), new AbortController().signal)) chunks.push(chunk);
  return chunks;
}
const textOf = (chunks: readonly Chunk[]): string =>
  chunks.map((chunk) => (chunk.type === 'part-delta' ? chunk.text : '')).join('');
const endOf = (chunks: readonly Chunk[]): Chunk & { readonly type: 'end' } => {
  const end = chunks.find((chunk) => chunk.type === 'end');
  assert.ok(end?.type === 'end');
  return end;
};

test('[A115] with redact a cloud model sees tokens, and its answer and its calls have the values again', async () => {
  const cloud = createSeeing(repeatToken);
  const provider = createDlpProvider(cloud, {
    policy: createDlpPolicy({ action: 'redact' }),
    audit: createAuditBuffer(),
  });
  const chunks = await run(provider, `Pay ${iban}`);
  assert.doesNotMatch(cloud.seen[0] ?? '', new RegExp(iban));
  assert.equal(textOf(chunks), `Paid to ${iban}.`);
  const end = endOf(chunks);
  assert.match(JSON.stringify(end.message), new RegExp(`"content":\\["Paid to ${iban}`));
  assert.deepEqual(end.annotations, [
    { key: 'dlp', value: { way: 'model', action: 'redact', counts: { iban: 1 }, to: 'cloud' } },
  ]);
  assert.doesNotMatch(JSON.stringify(end.annotations), new RegExp(iban), 'the fact holds no value');
});

test('[A115] observe changes nothing and counts; a local model is not scanned; block throws without the value; ask asks once', async () => {
  const cloud = createSeeing(() => ['ok']);
  const create = (options: Partial<Parameters<typeof createDlpProvider>[1]>): Provider =>
    createDlpProvider(cloud, {
      policy: createDlpPolicy({ action: 'observe' }),
      audit: createAuditBuffer(),
      ...options,
    });
  const observed = endOf(await run(create({}), `Pay ${iban}`));
  assert.match(cloud.seen.at(-1) ?? '', new RegExp(iban));
  assert.deepEqual(
    observed.annotations?.map(({ value }) => value),
    [{ way: 'model', action: 'observe', counts: { iban: 1 }, to: 'cloud' }],
  );
  assert.equal(endOf(await run(create({ isLocal: true }), `Pay ${iban}`)).annotations, undefined);
  const before = cloud.seen.length;
  await assert.rejects(run(create({ policy: createDlpPolicy({ action: 'block' }) }), `Pay ${iban}`), (error) => {
    assert.ok(error instanceof FairleadError && error.code === 'dlp/blocked');
    assert.doesNotMatch(`${error.message}${error.hint}`, new RegExp(iban));
    return true;
  });
  assert.equal(cloud.seen.length, before, 'nothing was sent');
  const questions: string[] = [];
  const asking = create({
    policy: createDlpPolicy({ action: 'ask' }),
    confirm: async (question) => (questions.push(question), true),
  });
  await run(asking, `Pay ${iban}`);
  await run(asking, `Pay ${iban} again`);
  assert.equal(questions.length, 1);
  assert.match(cloud.seen.at(-1) ?? '', new RegExp(iban));
  await run(create({ policy: createDlpPolicy({ action: 'ask' }) }), `Pay ${iban}`);
  assert.doesNotMatch(cloud.seen.at(-1) ?? '', new RegExp(iban), 'without a user the values become tokens');
});

test('[A115] a detector that throws stops the request if something is enforced, and is noted if the policy observes', async () => {
  const scanner = createDlpScanner({
    findPersonal: () => {
      throw new Error('broken');
    },
  });
  const cloud = createSeeing(() => ['ok']);
  for (const action of ['checked', 'redact', 'ask', 'block'] as const)
    await assert.rejects(
      run(
        createDlpProvider(cloud, { policy: createDlpPolicy({ action }, scanner), audit: createAuditBuffer() }),
        'Hello',
      ),
      { code: 'dlp/failed' },
    );
  assert.equal(cloud.seen.length, 0);
  const end = endOf(
    await run(
      createDlpProvider(cloud, {
        policy: createDlpPolicy({ action: 'observe' }, scanner),
        audit: createAuditBuffer(),
      }),
      'Hello',
    ),
  );
  assert.deepEqual(
    end.annotations?.map(({ value }) => value),
    [{ way: 'model', action: 'observe', counts: {}, to: 'cloud', failed: true }],
  );
});

test('[A115] answers that leave the machine are redacted or blocked as a whole, also while they are streamed', async () => {
  const local = createSeeing(() => ['The IBAN is DE8937', '0400440532', '013000.']);
  const create = (action: 'redact' | 'block'): Provider =>
    createDlpProvider(local, {
      policy: createDlpPolicy({ ways: { answers: action } }),
      isLocal: true,
      guardsAnswers: true,
      audit: createAuditBuffer(),
    });
  const chunks = await run(create('redact'), 'Which?');
  assert.equal(textOf(chunks), 'The IBAN is [removed: iban].');
  const [text] = endOf(chunks).message.parts;
  assert.ok(text?.type === 'text' && text.text === 'The IBAN is [removed: iban].');
  await assert.rejects(run(create('block'), 'Which?'), { code: 'dlp/blocked' });
});

test('[A115] calls with an external effect are asked about, denied without a user, rewritten or observed', async () => {
  const tools = new Map([
    ['send', { effect: 'external' }],
    ['write_file', { effect: 'write' }],
  ] as const);
  const decide = async (
    options: Parameters<typeof createDlpPolicy>[0],
    tool = 'send',
    canAsk = true,
  ): Promise<unknown> =>
    createDlpGate({ policy: createDlpPolicy(options), tools, canAsk: () => canAsk, audit: createAuditBuffer() })(
      { id: 'c', tool, input: { body: [`Pay ${iban}`] } },
      { session: 's' } as never,
    );
  const typeOf = async (...args: Parameters<typeof decide>): Promise<unknown> =>
    ((await decide(...args)) as { type: unknown }).type;
  assert.equal(await typeOf({ action: 'redact' }), 'ask');
  assert.equal(await typeOf({ action: 'redact' }, 'send', false), 'deny');
  assert.equal(await typeOf({ action: 'block' }), 'deny');
  assert.equal(await typeOf({ action: 'observe' }), 'allow');
  assert.equal(await typeOf({}), 'ask');
  assert.equal(await typeOf({}, 'send', false), 'deny');
  assert.equal(await typeOf({ action: 'block' }, 'write_file'), 'allow');
  assert.equal(await typeOf({ action: 'block' }, 'unknown-tool'), 'deny');
  assert.deepEqual(await decide({ ways: { tools: 'redact' } }), {
    type: 'rewrite',
    input: { body: ['Pay [removed: iban]'] },
  });
  assert.doesNotMatch(JSON.stringify(await decide({ action: 'block' })), new RegExp(iban));
});

test('[A115] a tenant has its own policy, and a wrong policy is an error', () => {
  const file = { kinds: { email: 'observe' }, tenants: { acme: { action: 'block', kinds: {} } } };
  const options = { action: 'redact' } as const;
  assert.equal(createDlpPolicy(parseDlpPolicy(file, options)).actionFor('model', 'iban'), 'redact');
  assert.equal(createDlpPolicy(parseDlpPolicy(file, options)).actionFor('model', 'email'), 'observe');
  const acme = createDlpPolicy(parseDlpPolicy(file, { ...options, tenant: 'acme' }));
  assert.equal(acme.actionFor('model', 'email'), 'block');
  assert.equal(
    createDlpPolicy(parseDlpPolicy(file, { ...options, tenant: 'other' })).actionFor('model', 'iban'),
    'redact',
  );
  for (const wrong of [
    [],
    { action: 'redact' },
    { ways: { mail: 'redact' } },
    { kinds: { email: 'maybe' } },
    { patterns: [1] },
    { values: { a: 1 } },
    { tenants: { acme: { acton: 'block' } } },
  ])
    assert.throws(() => parseDlpPolicy(wrong, {}), { code: 'dlp/bad-policy' }, JSON.stringify(wrong));
});
