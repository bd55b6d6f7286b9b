// Verification as a user meets it: the commands verify-claims and verify-full with scripted models of several families.
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { isObject, type Event, type JsonObject } from '../src/core/index.ts';
import { findClaimsWithoutEvidence, type VerificationReport } from '../src/checks/index.ts';
import { createProgram, type TestProgram } from './support/cli-harness.ts';
import { respondAsModel, type ScriptedModelOptions } from './support/scripted-judges.ts';

const models = ['qwen3', 'llama3.2', 'mistral-small', 'gemma3'].map((id) => ({ id, tools: true, context: 32_768 }));

/** The system prompt of a request in the format of Ollama. */
function readSystem(body: JsonObject): string {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const system = messages.find((message) => isObject(message) && message['role'] === 'system');
  return isObject(system) ? String(system['content']) : '';
}

/** The program with models of four families; `qwen3` is the author. */
async function createVerifyProgram(
  t: TestContext,
  script: Readonly<Record<string, ScriptedModelOptions>>,
): Promise<TestProgram> {
  const program = await createProgram(
    t,
    ({ model, prompt, body }) => respondAsModel(script[model] ?? {}, readSystem(body), prompt),
    { models },
  );
  await program.seedModels('qwen3');
  return program;
}

const writeDocs = ({ cwd }: TestProgram, files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
};

const parseReport = (out: string): VerificationReport => JSON.parse(out) as VerificationReport;

const guide =
  '# Rover\n\nThe rover listens on port 8080 by default.\nThe rover stores its log in the folder data.\nThe battery lasts for 14 hours.\n';

test('[A81] [A34] [A36] verify-claims --file --against: planted false sentences are struck out, true ones cite file, lines and hash', async (t) => {
  const program = await createVerifyProgram(t, {});
  writeDocs(program, {
    'docs/guide.md': guide,
    'README.md':
      '# Rover\n\nThe rover listens on port 8080 by default. The battery lasts for 15 hours. The rover stores its log in the folder data.\n',
  });
  const { code, out, err } = await program.run(['verify-claims', '--file', 'README.md', '--against', 'docs']);
  assert.equal(code, 6, err);
  assert.match(out, /^Not supported: 1 of 3 claims are not supported\./);
  assert.match(out, /The rover listens on port 8080 by default\. \[1\] ~~The battery lasts for 15 hours\.~~/);
  assert.match(out, /contradicted The battery lasts for 15 hours\./);
  assert.match(out, /\[1\] guide\.md:3 \(sha256 [0-9a-f]{12}\): "The rover listens on port 8080 by default"/);
  assert.match(out, /Judges: .*llama3\.2 \(llama\).*; quorum 2\nCost: .*requests/);
  const whole = await program.call([
    'verify-claims',
    '--file',
    'README.md',
    '--against',
    'docs',
    '--json',
    'On which port does the rover listen?',
  ]);
  assert.equal(whole.code, 0, whole.err);
  const report = parseReport(whole.out);
  assert.deepEqual(
    [report.outcome, report.claims.map(({ verdict }) => verdict.type)],
    ['verified', ['supported', 'contradicted', 'supported']],
  );
  assert.doesNotMatch(report.verifiedText, /15/);
  for (const { score } of report.claims)
    assert.ok(score !== undefined && score >= 0 && score <= 1, 'the signal of the scorer');
});

test('[A26] [A81] verify-claims: a file path that does not exist is contradicted; outside of the folders nothing is looked up', async (t) => {
  const program = await createVerifyProgram(t, {});
  writeDocs(program, {
    'docs/fleet.md': 'The fleet has workers.',
    'answer.md': [
      'See `docs/fleet.md` and `docs/nowhere.md`.',
      'The file `fleet.md` exists.',
      'The file `linked/secret.md` exists.',
      'The file `linked/absent.md` exists.',
      'The file `../outside/secret.md` exists.',
      'The file `../outside/absent.md` exists.',
      'The file `docs/fleet.md` exists.',
    ].join('\n\n'),
    '../outside/secret.md': 'A secret.',
  });
  symlinkSync(path.join(program.cwd, '../outside'), path.join(program.cwd, 'linked'));
  const run = async (...more: string[]): Promise<readonly (readonly [string, string, string])[]> => {
    const { out, err } = await program.call([
      'verify-claims',
      '--file',
      'answer.md',
      '--json',
      '--judges',
      'qwen3',
      ...more,
    ]);
    assert.notEqual(out, '', err);
    return parseReport(out).claims.map(({ text, verdict }) => [text, verdict.type, verdict.why]);
  };
  const [both, bare, secret, absent, outside, nowhere, file] = await run();
  assert.deepEqual(both?.slice(1), ['contradicted', 'The file docs/nowhere.md does not exist.']);
  assert.equal(bare?.[1], 'unverifiable');
  assert.deepEqual([secret?.[1], outside?.[1]], ['unverifiable', 'unverifiable']);
  assert.equal(secret?.[2], absent?.[2], 'a link does not show what is behind it');
  assert.equal(outside?.[2], nowhere?.[2]);
  assert.equal(file?.[1], 'supported');
  assert.equal((await run('--against', 'docs'))[1]?.[1], 'supported', 'the folder of --against');
});

test('[A25] [A125] verify-claims and verify-full record a session: the question, the answer, and the verdicts with evidence', async (t) => {
  const program = await createVerifyProgram(t, {
    qwen3: { answer: () => 'The rover listens on port 8080 by default.' },
  });
  writeDocs(program, { 'docs/guide.md': guide, 'answer.md': 'The battery lasts for 14 hours.' });
  const question = 'On which port does the rover listen?';
  const verify = async (...args: readonly string[]): Promise<string> => {
    const { out, err } = await program.call([...args, '--against', 'docs', '--json']);
    assert.notEqual(out, '', err);
    return String((JSON.parse(out) as JsonObject)['session']);
  };
  const readEvents = (name: string): readonly Event[] =>
    program
      .session(name)
      .split('\n')
      .filter((line) => line.includes('"type"'))
      .map((line) => JSON.parse(line) as Event);
  for (const name of ['--ephemeral', '--no-session'])
    assert.equal(await verify('verify-claims', question, name), 'null');
  assert.deepEqual(program.sessions(), []);
  const asked = await verify('verify-claims', question);
  const events = readEvents(asked);
  assert.deepEqual(
    events.map(({ type }) => type),
    'session-started epoch-started input-received run-started turn-started turn-ended annotation-added check-ended run-ended'.split(
      ' ',
    ),
  );
  const record = events.find((event) => event.type === 'annotation-added' && event.key === 'verification');
  assert.ok(record?.type === 'annotation-added' && record.spent && Number(record.spent.input) > 0, 'with its cost');
  assert.match(JSON.stringify(record.value), /"verdict":"supported".*"path":"guide\.md".*port 8080/);
  assert.deepEqual(findClaimsWithoutEvidence(events), []);
  await verify('verify-claims', '--file', 'answer.md', '--private');
  await verify('verify-full', question);
  const { out } = await program.run(['sessions', 'list']);
  assert.match(out, /On which port does the rover listen\?/);
  assert.match(out, /Verify the claims of answer\.md\./);
  assert.equal(program.sessions().length, 3);
  const checked = await program.call(['sessions', 'verify']);
  assert.equal(checked.code, 0, checked.out + checked.err);
  const files = program.sessions().map((name) => program.session(name));
  assert.equal(files.filter((text) => text.includes('privacy/labelled')).length, 1, 'the private one is labelled');
});

test('[A81] [A35] without judges exact comparison decides, the rest has no evidence, and the output says so', async (t) => {
  const program = await createVerifyProgram(t, {});
  writeDocs(program, { 'docs/guide.md': guide, 'answer.md': 'The battery lasts for 14 hours. The battery is good.' });
  const { code, out } = await program.call([
    'verify-claims',
    '--file',
    'answer.md',
    '--against',
    'docs',
    '--judges',
    'qwen3',
    '-m',
    'qwen3',
  ]);
  assert.equal(code, 6);
  assert.match(out, /^Not verified: 1 of 2 claims are not supported\. No quorum: 2 model families/);
  assert.match(out, /supported {4}The battery lasts for 14 hours\.\n.*\(verbatim\)/);
  assert.match(out, /Judges: none\. Exact checks/);
  assert.match(out, /qwen3 does not count: It wrote the answer\./);
  assert.match(out, /Cost: no requests/);
});

test('[A81] [A123] verify-claims "<question>" answers from documents with citations, and abstains if they have no answer', async (t) => {
  const program = await createVerifyProgram(t, {
    qwen3: {
      answer: (asked) =>
        /mass/.test(asked.slice(asked.lastIndexOf('The question:')))
          ? 'The mass of the rover is 900 kg.'
          : 'The rover listens on port 8080 by default.',
    },
  });
  writeDocs(program, { 'docs/guide.md': guide });
  const good = await program.call(['verify-claims', 'On which port does the rover listen?', '--against', 'docs']);
  assert.equal(good.code, 0, good.err + good.out);
  assert.match(good.out, /^The rover listens on port 8080 by default\. \[1\]\n\nVerified: /);
  const none = await program.call(['verify-claims', 'What is the mass of the rover?', '--against', 'docs']);
  assert.equal(none.code, 6);
  assert.match(none.out, /^I don’t know: No claim of the answer is supported\./);
  assert.match(none.out, /~~The mass of the rover is 900 kg\.~~/);
  const other = await program.call(['verify-claims', 'What is the color of the rover?', '--against', 'docs']);
  assert.equal(other.code, 6, 'a supported claim that does not answer the question is no answer');
  assert.match(other.out, /^I don’t know: What remains does not answer the question\./);
});

const capital = 'Canberra is the capital of Australia.';

test('[A80] [A28] [A31] [A123] verify-full: of three drafts the one that other families agree with is the answer', async (t) => {
  let draft = 0;
  const knows: ScriptedModelOptions = { answer: () => capital };
  const program = await createVerifyProgram(t, {
    qwen3: { answer: () => (draft++ === 0 ? 'Sydney is the capital of Australia.' : capital) },
    'llama3.2': knows,
    'mistral-small': knows,
    gemma3: knows,
  });
  const { code, out, err } = await program.run(['verify-full', 'What is the capital of Australia?', '--json']);
  assert.equal(code, 0, err + out);
  const report = parseReport(out) as VerificationReport & {
    readonly drafts: readonly unknown[];
    readonly uncertainty?: unknown;
  };
  assert.deepEqual(
    [report.outcome, report.verifiedText, report.author, report.drafts.length],
    ['verified', capital, 'qwen3', 2],
  );
  assert.ok(report.uncertainty);
  const [claim] = report.claims;
  assert.ok(
    claim?.verdict.type === 'supported' && claim.verdict.evidence.every(({ source }) => source.type === 'model'),
  );
  assert.match(claim.verdict.why, /no document/);
  const asked = program.modelRequests().map(({ body }) => String((body as JsonObject)['model']));
  assert.ok(['llama3.2', 'mistral-small', 'gemma3'].every((name) => asked.includes(name)));
});

test('[A2] [A32] [A80] verify-full abstains if the other models disagree, do not know, or the budget does not reach', async (t) => {
  const program = await createVerifyProgram(t, {
    qwen3: { answer: () => 'Sydney is the capital of Australia.' },
    'llama3.2': { answer: () => capital },
    'mistral-small': { answer: () => capital },
  });
  const { code, out } = await program.call(['verify-full', 'What is the capital of Australia?']);
  assert.equal(code, 6);
  assert.match(out, /^I don’t know: /);
  assert.match(out, /~~Sydney is the capital of Australia\.~~/);
  const short = await program.call([
    'verify-full',
    'What is the capital of Australia?',
    '--max-requests',
    '2',
    '--json',
  ]);
  assert.deepEqual([short.code, parseReport(short.out).outcome], [6, 'abstained']);
  assert.match(parseReport(short.out).why, /budget does not reach/);
  const strict = await program.call([
    'verify-full',
    'What is the capital of Australia?',
    '--max-error',
    '5%',
    '--json',
  ]);
  assert.equal(strict.code, 6);
});

test('[A108] keys in documents are sent to no author and no judge', async (t) => {
  const program = await createVerifyProgram(t, {
    qwen3: { answer: () => 'The rover listens on port 8080 by default now.' },
  });
  const key = 'sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz';
  writeDocs(program, { 'docs/guide.md': `${guide}\nThe key of the rover is ${key} on port 8080.\n` });
  await program.call(['verify-claims', 'On which port does the rover listen?', '--against', 'docs'], {
    env: { ANTHROPIC_API_KEY: key },
  });
  const sent = program.modelRequests().map(({ body }) => JSON.stringify(body));
  assert.ok(sent.length >= 4 && sent.some((text) => text.includes('The key of the rover')), 'the passage was sent');
  assert.ok(sent.every((text) => !text.includes(key)));
});

test('[A33] [A108] without models of other families nothing is verified, and the model that answered is never a judge', async (t) => {
  const program = await createProgram(t, ({ prompt, body }) =>
    respondAsModel({ answer: () => capital }, readSystem(body), prompt),
  );
  await program.seedModels('qwen3');
  const { code, out } = await program.call(['verify-full', 'What is the capital of Australia?']);
  assert.equal(code, 6);
  assert.match(out, /^Not verified: .*No quorum/);
});

test('[A80] [A81] wrong arguments are refused with the usage, and files that are missing with a sentence', async (t) => {
  const program = await createVerifyProgram(t, {});
  for (const args of [
    ['verify-full'],
    ['verify-claims'],
    ['verify-claims', 'q', '--quorum', '0'],
    ['verify-full', 'q', '--drafts', 'x'],
    ['verify-claims', 'q', '--max-error', '2'],
  ]) {
    const { code, err } = await program.call(args);
    assert.deepEqual([code, /Usage: fairlead verify-/.test(err)], [2, true], args.join(' '));
  }
  for (const args of [
    ['verify-claims', '--file', 'none.md'],
    ['verify-claims', 'q', '--against', 'none'],
    ['verify-claims', 'q', '--judges', 'none'],
  ]) {
    const { code, err } = await program.call(args);
    assert.equal(code, 1, err);
    assert.ok(!/\n {4}at /.test(err), err);
  }
});
