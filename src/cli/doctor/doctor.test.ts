// Tests the doctor with working and broken installations.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { bin } from '../../../test/support/program-dirs.ts';
import { createPromptEnvironment, openPrompt, type PromptEnvironment } from '../../../test/support/terminal-prompt.ts';
import { noSandbox } from '../../../test/support/sandbox.ts';
import { noTerminal } from '../../../test/support/terminal.ts';
import { isObject, type JsonObject } from '../../core/index.ts';
import {
  calls,
  closedUrl,
  says,
  scriptedServer,
  type ScriptRequest,
  type ScriptedServer,
} from '../../testing/index.ts';
import { fail } from './check.ts';
import { doctorChecks } from './checks.ts';
import { runDoctorChecks, type NamedCheckResult } from './run-checks.ts';

type Report = { readonly ok: boolean; readonly checks: readonly NamedCheckResult[] };
type Ran = { readonly code: number; readonly out: string; readonly err: string };

function fairlead(environment: Pick<PromptEnvironment, 'env' | 'cwd'>, ...args: readonly string[]): Promise<Ran> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    SANDBOX_CONTAINER_RUNTIME_EXECUTABLE: 'no-such-engine',
    ...environment.env,
  };
  const { promise, resolve } = Promise.withResolvers<Ran>();
  execFile(process.execPath, [bin, ...args], { env, cwd: environment.cwd }, (error, out, err) =>
    resolve({ code: error === null ? 0 : Number(error.code), out, err }),
  );
  return promise;
}

async function examined(
  environment: Pick<PromptEnvironment, 'env' | 'cwd'>,
  ...args: readonly string[]
): Promise<Report & { code: number }> {
  const { code, out } = await fairlead(environment, 'doctor', '--json', ...args);
  return { ...(JSON.parse(out) as Report), code };
}

const finding = ({ checks }: Report, name: string): NamedCheckResult => {
  const found = checks.find((each) => each.name === name);
  assert.ok(found, `there is no check ${name}`);
  return found;
};
const failedIn = ({ checks }: Report): readonly string[] =>
  checks.filter(({ status }) => status === 'fail').map(({ name }) => name);

/** A scripted model that calls the requested tool. */
const obeys = ({ prompt, tools }: ScriptRequest<JsonObject>) =>
  tools.includes('report_number') ? calls('report_number', { number: Number(/\d+/.exec(prompt)?.[0]) }) : says('fine');

/** Returns the requests that ask for a tool call. */
const trials = ({ requests }: ScriptedServer): readonly JsonObject[] =>
  requests.flatMap(({ body }) => (isObject(body) && JSON.stringify(body).includes('report_number') ? [body] : []));

const withEnv = (environment: PromptEnvironment, env: Readonly<Record<string, string>>): PromptEnvironment => ({
  ...environment,
  env: { ...environment.env, ...env },
});

test('if everything works every check is ok, the model has called a tool, and the exit code is 0', async (t) => {
  const environment = await createPromptEnvironment(t, obeys, {
    models: [{ id: 'alpha', tools: true, context: 32_000 }],
  });
  await fairlead(environment, '--one-shot', '--refresh-models');
  const { code, out, err } = await fairlead(environment, 'doctor', '--model', 'alpha');
  assert.equal(code, 0, out);
  assert.match(out, /^ok {4}provider +lm-studio .* answers \(\d+ ms\) and has 1 model\.$/m);
  assert.match(out, /^ok {4}model +alpha \(named here\) is in the list of lm-studio/m);
  assert.match(out, /^ok {4}tool calling +alpha called the tool as asked/m);
  assert.match(out, /^ok {4}context window +alpha has a context window of 32000 tokens\.$/m);
  assert.match(out, /^ok {4}log +There is no session yet\.$/m);
  assert.match(out, /^warn {2}container +no-such-engine is not installed.*\n +fix: Install it/m);
  // The other warnings name optional programs that this machine does not have.
  const warned = [...out.matchAll(/^warn {2}(\S+(?: \S+)*)/gm)].map(([, name = '']) => name.split('  ')[0] ?? '');
  for (const name of warned)
    assert.ok(['container', 'commands', 'editor', 'git', 'terminal', 'local models'].includes(name), out);
  assert.match(
    err,
    new RegExp(`No check failed; ${warned.length} of ${doctorChecks.length} ha(s|ve) (a )?warnings?\\.`),
  );
  const asked = trials(environment.server);
  assert.equal(asked.length, 1, 'one tiny request');
  assert.equal(asked[0]?.['max_tokens'], 1024);
});

test('a model that answers with text instead of a tool call fails, and a wrong call is a warning', async (t) => {
  const environment = await createPromptEnvironment(t, () => says('Sure! I would call it with\nthe number.'));
  const report = await examined(environment, '--model', 'lm-studio/alpha');
  assert.deepEqual([report.code, report.ok, failedIn(report)], [1, false, ['tool calling']]);
  assert.match(
    finding(report, 'tool calling').message,
    /called no tool; it answered: Sure! I would call it with␊the number\. \(stop/,
  );
  assert.match(finding(report, 'tool calling').fix ?? '', /fairlead models lm-studio --tools/);
  environment.server.setScript(() => calls('report_number', { number: 1 }));
  const wrong = finding(await examined(environment, '--model', 'lm-studio/alpha'), 'tool calling');
  assert.equal(wrong.status, 'warn');
  assert.match(wrong.message, /called report_number with {"number":1} instead of {"number":\d{3}}/);
});

test('an unreachable provider fails once, and the checks that need it are reported as not tested', async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  const report = await examined(
    withEnv(environment, { OLLAMA_API_URL: await closedUrl() }),
    '--model',
    'lm-studio/alpha',
  );
  assert.deepEqual([report.code, failedIn(report)], [1, ['provider']]);
  assert.match(finding(report, 'provider').fix ?? '', /Is the server running at http:.*Start it/);
  for (const name of ['tool calling', 'context window'])
    assert.match(finding(report, name).message, /^Not tested because of the error above\.$/);
  assert.equal(environment.server.requests.length, 0);
});

test('an unknown model fails with its name, and its provider is still ok', async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  await fairlead(environment, '--one-shot', '--refresh-models');
  const report = await examined(environment, '--model', 'alfa');
  assert.deepEqual([report.code, failedIn(report)], [1, ['model']]);
  assert.match(finding(report, 'model').fix ?? '', /Did you mean alpha/);
  assert.match(finding(report, 'tool calling').message, /^Not tested/);
});

test('--offline sends no request', async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  const report = await examined(environment, '--offline');
  assert.equal(report.code, 0);
  for (const name of ['provider', 'model', 'tool calling', 'context window'])
    assert.deepEqual([finding(report, name).status, finding(report, name).message], ['ok', 'Skipped (--offline).']);
  assert.equal(environment.server.requests.length, 0);
});

test('for Ollama the reported context window is the num_ctx of the requests', async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  const models = [{ id: 'alpha', tools: true, context: 100_000, parameters: 'num_ctx 9000' }];
  await using server = await scriptedServer(obeys, { models });
  const there = withEnv(environment, { OLLAMA_API_URL: server.url, HARNESS_INFERENCE_PROVIDER: 'ollama' });
  const report = await examined(there, '--model', 'ollama/alpha');
  assert.equal(
    finding(report, 'context window').message,
    'ollama/alpha has a context window of 9000 tokens (sent to Ollama as num_ctx with every request).',
  );
  assert.deepEqual(
    trials(server).map(({ options }) => isObject(options) && options['num_ctx']),
    [9000],
  );
});

test('a changed session file fails with its name, and an unwritable directory with its path', async (t) => {
  const environment = await createPromptEnvironment(t, () => says('fine'));
  const options = ['run', '--model', 'lm-studio/alpha', '--session-name'];
  assert.equal((await fairlead(environment, ...options, 'well', 'hi')).code, 0);
  assert.equal((await fairlead(environment, ...options, 'ill', 'hello there')).code, 0);
  chmodSync(environment.data, 0o755);
  const well = await examined(environment, '--offline');
  assert.equal(finding(well, 'log').message, 'All 2 session files passed verification.');
  assert.deepEqual(
    [finding(well, 'folders').status, finding(well, 'folders').fix],
    ['warn', `chmod 700 ${environment.data}`],
  );
  const dir = path.join(environment.data, 'sessions');
  const file = path.join(dir, readdirSync(dir).find((each) => each.endsWith('_ill.jsonl')) ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace('hello there', 'hello THERE'));
  const blocked = path.join(environment.cwd, 'a-file');
  writeFileSync(blocked, '');
  const report = await examined(withEnv(environment, { XDG_CACHE_HOME: blocked }), '--offline');
  assert.deepEqual([report.code, failedIn(report)], [1, ['folders', 'log']]);
  assert.match(finding(report, 'log').message, /^1 of 2 sessions are damaged or were edited\. "ill": /);
  assert.match(
    finding(report, 'folders').message,
    /The cache directory .*a-file.fairlead cannot be written or created in/,
  );
  assert.match(finding(report, 'folders').fix ?? '', /XDG_CACHE_HOME/);
});

test('unreadable settings fail once, and the other checks still run', async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  const config = path.join(environment.env['XDG_CONFIG_HOME'] ?? '', 'fairlead');
  mkdirSync(config, { recursive: true });
  writeFileSync(path.join(config, 'config.json'), '{ "approve": "maybe" }');
  const report = await examined(environment, '--offline');
  assert.deepEqual([report.code, failedIn(report)], [1, ['settings']]);
  assert.match(finding(report, 'settings').message, /approve .*must be read-only, plan, ask, accept-edits or auto/);
  assert.match(finding(report, 'log').message, /^Not tested/);
  assert.equal(finding(report, 'node').status, 'ok');
});

/** A container engine that is a script: every image exists, and commands run without isolation. */
function engine(environment: PromptEnvironment, run: string): PromptEnvironment {
  const file = path.join(environment.cwd, 'engine');
  writeFileSync(file, `#!/bin/sh\n[ "$1" = run ] || exit 0\nfor last; do :; done\n${run}\n`);
  chmodSync(file, 0o755);
  return withEnv(environment, { SANDBOX_CONTAINER_RUNTIME_EXECUTABLE: file });
}

test('[A16] a container that shows the home directory or writable system files fails, and one that cannot run has another message', async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  const leaky = await examined(engine(environment, 'exec sh -c "$last"'), '--offline');
  assert.equal(leaky.code, 1);
  assert.match(
    finding(leaky, 'container').message,
    /^The container does not confine commands: .*the home directory is visible/,
  );
  const holds = await examined(
    engine(environment, `printf 'network: \\nhome: hidden\\nsystem: closed\\n'`),
    '--offline',
  );
  assert.equal(finding(holds, 'container').status, 'ok');
  const routed = await examined(
    engine(environment, `printf 'network: eth0 \\nhome: hidden\\nsystem: closed\\n'`),
    '--offline',
  );
  assert.match(finding(routed, 'container').message, /it has a network \(eth0\)\.$/);
  const broken = await examined(engine(environment, 'echo out of luck; exit 125'), '--offline');
  assert.match(finding(broken, 'container').message, /^The container could not be tested: .*out of luck/);
  assert.deepEqual(readdirSync(environment.env['HOME'] ?? ''), ['.keep'], 'no marker file is left');
});

const image = 'fairlead-busybox';
const volume = 'fairlead-doctor-volume';
const skip =
  spawnSync('podman', ['image', 'inspect', image]).status === 0
    ? false
    : `no podman with an image called ${image} here`;

test(
  '[A16, A17] a real podman container passes, and without its volume the command that creates it is shown',
  { skip, timeout: 120_000 },
  async (t) => {
    const program = await createPromptEnvironment(t, obeys);
    const environment = withEnv(program, {
      SANDBOX_CONTAINER_RUNTIME_EXECUTABLE: 'podman',
      SANDBOX_CONTAINER_IMAGE: image,
      SANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME: volume,
    });
    spawnSync('podman', ['volume', 'rm', '-f', volume]);
    // Podman has its images below the home directory, so this uses the real home; the other directories are of the test.
    const home = withEnv(environment, { HOME: process.env['HOME'] ?? '' });
    const without = finding(await examined(home, '--offline'), 'container');
    assert.deepEqual([without.status, without.fix], ['warn', `podman volume create ${volume}`]);
    spawnSync('podman', ['volume', 'create', volume]);
    t.after(() => spawnSync('podman', ['volume', 'rm', '-f', volume]));
    const holds = finding(await examined(home, '--offline'), 'container');
    assert.equal(holds.status, 'ok', holds.message);
  },
);

test('a check that throws is a failed check, and the others still run', async () => {
  const found = [];
  const checks = [
    {
      name: 'breaks',
      run: () => {
        throw new Error('no luck');
      },
    },
    { name: 'goes on', run: () => fail('this', 'that') },
  ];
  for await (const each of runDoctorChecks({ checks })) found.push([each.name, each.status, each.message]);
  assert.deepEqual(found, [
    ['breaks', 'fail', 'no luck'],
    ['goes on', 'fail', 'this'],
  ]);
});

test('an unknown option is a usage error', async (t) => {
  const { code, out, err } = await fairlead(await createPromptEnvironment(t, obeys), 'doctor', '--fast');
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /--fast.*\nUsage: fairlead doctor/);
});

test('/doctor checks the model of the conversation', { skip: noTerminal() }, async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  const prompt = await openPrompt(t, withEnv(environment, { SANDBOX_CONTAINER_RUNTIME_EXECUTABLE: 'no-such-engine' }));
  const screen = await prompt.enterAndWait(
    '/doctor',
    new RegExp(`\\d+ of ${doctorChecks.length} have warnings|All ${doctorChecks.length} checks passed|checks failed`),
  );
  assert.match(screen, /ok +model +alpha \(in use\)/);
  assert.match(screen, /ok +tool calling +alpha called the tool as asked/);
  await prompt.enterAndWait('/doctor nonsense', /Use \/doctor or \/doctor offline\./);
});

test('the sandbox of commands is tested', { skip: await noSandbox() }, async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  const { status, message: told } = finding(await examined(environment, '--offline'), 'commands');
  assert.deepEqual([status, told.includes('had no network')], ['ok', true], told);
});

test('the tested sandbox is the one for commands of the current directory', async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  const { status, message: told } = finding(await examined({ ...environment, cwd: '/' }, '--offline'), 'commands');
  assert.deepEqual([status, /the root of the disk|no sandbox on this machine/.test(told)], ['warn', true], told);
});

test('[attack 82] without a sandbox the doctor says what to install', async (t) => {
  const environment = await createPromptEnvironment(t, obeys);
  const {
    status,
    message: told,
    fix,
  } = finding(await examined(withEnv(environment, { PATH: '/nowhere' }), '--offline'), 'commands');
  assert.deepEqual([status, told], ['warn', 'Commands are not run: there is no sandbox on this machine.']);
  assert.match(fix ?? '', /^Install bubblewrap/);
});
