// Unknown packages: they need approval in every mode, with their names.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { ToolCall, Decision, RunState } from '../../core/index.ts';
import { grantKey, sessionGrants } from '../grants.ts';
import { packageInstallGate } from './package-guard.ts';
import { findNewPackages } from './unknown-packages.ts';

const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-packages-')));
after(() => rmSync(cwd, { recursive: true, force: true }));
const write = (name: string, text: string): void => writeFileSync(path.join(cwd, name), text);
const locked = {
  'node_modules/lodash': {},
  'node_modules/@types/node': {},
  'node_modules/a/node_modules/left-pad': {},
};
write('package-lock.json', JSON.stringify({ packages: locked }, undefined, 1));
write('requirements.txt', 'Requests[socks]>=2\nflask_login==1\n');
write('Cargo.lock', '[[package]]\nname = "serde"\nversion = "1"\n');
write('go.sum', 'golang.org/x/text v0.1.0 h1:abc\n');
write('Gemfile.lock', 'GEM\n  specs:\n    rails (7.0)\n');
mkdirSync(path.join(cwd, 'node_modules/.bin'), { recursive: true });
write('node_modules/.bin/tsc', '');

const pathContext = { cwd, home: '/home/somebody', locate: (given: string) => path.resolve(cwd, given) };
const unknownIn = async (command: string): Promise<readonly string[]> => {
  const { unknownNames, doubts } = await findNewPackages({ tool: 'run_command', input: { command } }, pathContext);
  return [...unknownNames, ...doubts];
};

test('[attack 74] packages of a lockfile, a manifest or a local directory are known', async () => {
  for (const command of [
    'npm install',
    'npm ci',
    'npm i lodash@4 @types/node@latest left-pad',
    'npm run build -- add evil',
    'npx tsc --noEmit',
    'npm i ./packages/mine file:../other',
    'npm install --workspace web lodash',
    'pip install -r requirements.txt',
    'python3 -m pip install requests==2.31 "Flask-Login>=1" .',
    'cargo add serde@1 --features derive',
    'cargo build',
    'go get golang.org/x/text@v0.1.0',
    'gem install rails -v 7',
    'echo npm install evil',
    'git add evil',
    'npm run --silent add evil',
    'npx --yes tsc evil',
    'go run ./cmd evil',
    'go run main.go evil@1',
    'python3 -m mine install evil',
    'python3 run.py -m pip install evil',
  ])
    assert.deepEqual(await unknownIn(command), [], command);
});

test('[attack 74] every other package is unknown, in any form of the command', async () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'npm install lodahs': ['lodahs'],
    'npm i -D lodash @typos/node@1': ['@typos/node'],
    'npm install nice@npm:evil@1': ['evil'],
    'pnpm add lodash-es': ['lodash-es'],
    'yarn add pad': ['pad'],
    'npx --yes evil-tool left-pad': ['evil-tool'],
    'pnpm dlx evil-tool x': ['evil-tool'],
    'bun add evil': ['evil'],
    'pip install request': ['request'],
    'pip3.11 install "reqests[socks]>=2"': ['reqests'],
    'python3 -m pip install evil': ['evil'],
    'uv pip install evil': ['evil'],
    'poetry add evil': ['evil'],
    'cargo add serde_jsom': ['serde_jsom'],
    'cargo install evil@1': ['evil'],
    'go install example.org/evil@latest': ['example.org/evil'],
    'gem install railz': ['railz'],
    'bundle add railz': ['railz'],
    'cd . && npm i evil && true': ['evil'],
    'bash -c "npm i evil"': ['evil'],
    "n''pm i ev''il": ['evil'],
    'sudo -E npm --prefix x i evil': ['evil'],
    'env A=b npm i evil': ['evil'],
    'npm i $(cat names)': ['$(cat names)'],
    'npm --loglevel silent install evil': ['evil'],
    'npm it evil': ['evil'],
    'yarn workspace web add evil': ['evil'],
    'python3 -I -m pip --proxy p install evil': ['evil', '--proxy may select another source of packages'],
    'uv tool install evil': ['evil'],
    'uv tool run evil x': ['evil'],
    'go run example.org/evil@latest x': ['example.org/evil'],
    'gem i railz': ['railz'],
    'npm i git+https://example.org/evil.git': ['git+https://example.org/evil.git'],
  };
  for (const [command, names] of Object.entries(cases)) assert.deepEqual(await unknownIn(command), names, command);
});

test('[attack 74] the gate asks with the package names even if everything is allowed; a rejection stands, and "always" covers the exact command only', async () => {
  const granted = sessionGrants();
  const call: ToolCall = { id: 'c', tool: 'run_command', input: { command: 'npm i evil lodash' } };
  const gated = (inner: Decision): Promise<Decision> =>
    Promise.resolve(packageInstallGate(() => inner, granted, pathContext)(call, {} as RunState));
  const question =
    'run_command: npm i evil lodash\nWarning: not in the lockfile or manifest of this project, so the package is new here: evil.';
  assert.deepEqual(await gated({ type: 'allow' }), { type: 'ask', question });
  const asked = await gated({ type: 'ask', question: 'May I?' });
  assert.match(asked.type === 'ask' ? asked.question : '', /^May I\?\nWarning: not in the lockfile .* evil\.$/);
  assert.equal((await gated({ type: 'deny', reason: 'no' })).type, 'deny');
  await granted.grant(grantKey(call, pathContext.locate));
  assert.equal((await gated({ type: 'allow' })).type, 'allow');
});
