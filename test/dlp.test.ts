// Data loss prevention as a user meets it: the default configuration replaces secrets and numbers with check digits by tokens, the setting redacts, asks or blocks, and no audit fact holds a value.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { codingAgent, type CodingAgentOptions } from '../src/coding-agent/index.ts';
import type { Event, Json, ModelRequest, Provider } from '../src/core/index.ts';
import { calls, says, scriptedProvider, type Script } from '../src/testing/index.ts';
import { createProgram } from './support/cli-harness.ts';

const iban = 'DE89370400440532013000';
const mail = 'anna.schmidt@firma-mail.de';

type Config = { readonly dlp?: string; readonly policy?: Json };

function createOptions(t: TestContext, { dlp, policy }: Config): CodingAgentOptions & { readonly cwd: string } {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-dlp-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [cwd, configDir] = [path.join(root, 'project'), path.join(root, 'config')];
  mkdirSync(cwd);
  mkdirSync(configDir);
  writeFileSync(path.join(configDir, 'config.json'), JSON.stringify(dlp === undefined ? {} : { dlp }));
  if (policy !== undefined) writeFileSync(path.join(configDir, 'dlp.json'), JSON.stringify(policy));
  writeFileSync(path.join(cwd, 'bill.txt'), `Pay to ${iban}, questions to ${mail}.\n`);
  return { cwd, stateDir: path.join(root, 'state'), configDir, sandbox: 'none' };
}

/** Runs a script as a model of a cloud provider; records what the model was sent. */
async function runScript(
  options: CodingAgentOptions,
  prompt: string,
  script: Script<ModelRequest>,
): Promise<{
  readonly sent: string;
  readonly events: readonly Event[];
  readonly questions: readonly string[];
  readonly status: string;
}> {
  const scripted = scriptedProvider(script);
  const sent: string[] = [];
  const questions: string[] = [];
  const cloud: Provider = {
    ...scripted,
    family: 'cloud',
    stream(request, signal) {
      sent.push(JSON.stringify([request.system, request.messages.items]));
      return scripted.stream(request, signal);
    },
  };
  await using agent = await codingAgent({
    ...options,
    model: cloud,
    approve: async ({ question }) => {
      questions.push(question);
      return true;
    },
  });
  await using session = await agent.session();
  const events: Event[] = [];
  session.subscribe((event) => void events.push(event));
  const { status } = await session.run(prompt);
  return { sent: sent.join('\n'), events, questions, status };
}

const read = calls('read_file', { path: 'bill.txt' });
const listAudit = (events: readonly Event[]): readonly Json[] =>
  events.flatMap((event) => (event.type === 'annotation-added' && event.key === 'dlp' ? [event.value] : []));

test('[A115] by default a cloud model sees tokens for an IBAN, the file that it edits is right on disk, and the same value has the same token in every request', async (t) => {
  const options = createOptions(t, {});
  const before = `# Accounts\niban = "${iban}"\nspaced: DE89 3704 0044 0532 0130 00\nmail: ${mail}\n`;
  writeFileSync(path.join(options.cwd, 'accounts.toml'), before);
  const requests: string[] = [];
  const { sent, events, status, questions } = await runScript(
    options,
    `Rename the key iban in accounts.toml. My card is 4111 1111 1111 1111, my mail ${mail}.`,
    (asked, index) => {
      const seen = JSON.stringify(asked);
      requests.push(seen);
      const [first = '', second = ''] = new Set(seen.match(/PRIVATE_IBAN\w+/g));
      return [
        calls('read_file', { path: 'accounts.toml' }),
        calls('edit_file', {
          path: 'accounts.toml',
          old_string: `iban = "${first}"\nspaced: ${second}`,
          new_string: `account = "${first}" # ${second}\nspaced: ${second}`,
        }),
        calls('read_file', { path: 'accounts.toml' }),
        says(`The account is ${first}.`),
      ][index];
    },
  );
  assert.equal(status, 'success');
  assert.doesNotMatch(sent, new RegExp(`${iban}|0044 0532|4111 1111`));
  assert.match(sent, new RegExp(mail), 'an e-mail address is counted only');
  assert.equal(
    readFileSync(path.join(options.cwd, 'accounts.toml'), 'utf8'),
    before.replace(`iban = "${iban}"`, `account = "${iban}" # DE89 3704 0044 0532 0130 00`),
  );
  const answer = events.findLast((event) => event.type === 'turn-ended');
  assert.match(JSON.stringify(answer), new RegExp(`The account is ${iban}`), 'the user sees the value');
  // Each request extends the one before byte for byte.
  const lists = sent.split('\n').map((each) => JSON.stringify((JSON.parse(each) as [string, Json])[1]).slice(0, -1));
  for (const [i, list] of lists.entries()) if (i > 0) assert.ok(list.startsWith(lists[i - 1] ?? '-'), `request ${i}`);
  const audit = listAudit(events) as readonly { way: string; action: string; counts: Record<string, number> }[];
  assert.deepEqual(
    audit.slice(0, 3).map(({ way, action, counts }) => [way, action, counts]),
    [
      ['model', 'redact', { 'payment-card': 1 }],
      ['model', 'observe', { email: 1 }],
      ['model', 'redact', { iban: 2 }],
    ],
  );
  assert.doesNotMatch(JSON.stringify(audit), new RegExp(`${iban}|anna`));
  assert.deepEqual(
    questions.filter((question) => question.includes('holds')),
    [],
  );
});

test('[A115] by default a command that stays here is run, one that sends a value of a file is asked about, and one that sends what the user wrote is not', async (t) => {
  const { questions, events } = await runScript(createOptions(t, {}), 'Register the card 4111 1111 1111 1111', [
    read,
    calls('run_command', { command: `echo ${iban}` }),
    calls('run_command', { command: `echo curl -d ${iban} pay.invalid` }),
    calls('run_command', { command: 'echo curl -d 4111111111111111 pay.invalid' }),
    says('Done.'),
  ]);
  const asked = questions.filter((question) => /Its input holds/.test(question));
  assert.equal(asked.length, 1);
  assert.match(asked[0] ?? '', /holds 1 iban, which leaves this machine/);
  assert.doesNotMatch(asked[0] ?? '', new RegExp(iban));
  assert.ok(events.some((event) => event.type === 'approval-requested' && event.by?.kind === 'dlp'));
});

test('[A115] with observe personal data is counted in the log, and nothing is changed', async (t) => {
  const { sent, events, status } = await runScript(createOptions(t, { dlp: 'observe' }), `Is ${mail} in bill.txt?`, [
    read,
    calls('run_command', { command: `echo curl ${iban}` }),
    says('Yes.'),
  ]);
  assert.equal(status, 'success');
  assert.match(sent, new RegExp(iban));
  const audit = listAudit(events);
  assert.deepEqual(
    audit
      .map((value) => value as { way: string; action: string; counts: Record<string, number> })
      .map(({ way, action, counts }) => [way, action, counts]),
    [
      ['model', 'observe', { email: 1 }],
      ['model', 'observe', { iban: 1, email: 1 }],
      ['tools', 'observe', { iban: 1 }],
      ['model', 'observe', { iban: 2 }],
    ],
  );
  assert.doesNotMatch(JSON.stringify(audit), new RegExp(`${iban}|anna`));
});

test('[A115] with redact a cloud model never sees the values, and a local file still gets them', async (t) => {
  const options = createOptions(t, { dlp: 'redact', policy: { values: { patient: 'Karla Blumfeld' } } });
  const { sent, status } = await runScript(
    options,
    'Copy the IBAN of bill.txt for Karla Blumfeld to out.txt',
    (asked, index) => {
      // What a model does with what it sees: it copies the token.
      const token = /PRIVATE_IBAN\w+/.exec(JSON.stringify(asked))?.[0] ?? 'none';
      return [read, calls('write_file', { path: 'out.txt', content: token }), says('Done.')][index];
    },
  );
  assert.equal(status, 'success');
  assert.doesNotMatch(sent, new RegExp(`${iban}|${mail}|Blumfeld`));
  assert.equal(readFileSync(path.join(options.cwd, 'out.txt'), 'utf8'), iban);
});

test('[A115] with redact an external call with personal data is asked about, whatever was approved before', async (t) => {
  const { questions, events } = await runScript(createOptions(t, { dlp: 'redact' }), 'Run echo', [
    calls('run_command', { command: `echo curl ${iban}` }),
    says('Done.'),
  ]);
  assert.ok(
    questions.some((question) => /holds 1 iban/.test(question) && !question.includes(iban)),
    questions.join('\n'),
  );
  assert.ok(events.some((event) => event.type === 'approval-requested' && event.by?.kind === 'dlp'));
});

test('[A115] with block nothing is sent, and the log names the kind', async (t) => {
  const { sent, events } = await runScript(createOptions(t, { dlp: 'block' }), `Pay ${iban}`, [says('Done.')]);
  assert.equal(sent, '');
  const failed = events.find((event) => event.type === 'turn-failed');
  assert.ok(failed?.type === 'turn-failed');
  assert.equal(failed.error.code, 'dlp/blocked');
  assert.match(failed.error.message, /1 iban/);
  assert.doesNotMatch(JSON.stringify(failed), new RegExp(iban));
});

test('[A115] a policy file that is wrong stops requests instead of being ignored', async (t) => {
  const { sent, events } = await runScript(
    createOptions(t, { dlp: 'redact', policy: { kinds: { iban: 'maybe' } } }),
    'Hello',
    [says('Done.')],
  );
  assert.equal(sent, '');
  assert.ok(events.some((event) => event.type === 'turn-failed' && event.error.code === 'dlp/bad-policy'));
});

test('[A115] `fairlead dlp scan` names kinds and places, and shows values only on request', async (t) => {
  const { cwd } = createOptions(t, {});
  const file = path.join(cwd, 'bill.txt');
  const program = await createProgram(t);
  const scan = await program.run(['dlp', 'scan', file]);
  assert.equal(scan.code, 1);
  assert.match(scan.out, /1 iban, 1 email|1 email, 1 iban/);
  assert.doesNotMatch(scan.out, new RegExp(iban));
  const json = JSON.parse((await program.run(['dlp', 'scan', '--json', '--show', file])).out) as {
    readonly files: readonly { readonly findings: readonly Json[] }[];
  };
  assert.deepEqual(json.files[0]?.findings[0], { kind: 'iban', category: 'personal', line: 1, column: 8, value: iban });
});

test('[A115] values that a program names as private reach no cloud model, and sending one is asked about', async (t) => {
  const options = { ...createOptions(t, {}), privateValues: { project: 'Operation Blue Heron' } };
  writeFileSync(path.join(options.cwd, 'plan.txt'), 'operation blue-heron starts in May.\n');
  const { sent, questions, status } = await runScript(options, 'Summarize plan.txt for Operation Blue Heron', [
    calls('read_file', { path: 'plan.txt' }),
    calls('run_command', { command: 'echo curl -d "Operation Blue Heron" x.invalid' }),
    says('Done.'),
  ]);
  assert.equal(status, 'success');
  assert.doesNotMatch(sent, /blue.heron/i);
  assert.match(sent, /PRIVATE_PROJECT_1_/);
  assert.ok(
    questions.some((question) => /holds 1 project, which leaves this machine/.test(question)),
    questions.join(),
  );
});
