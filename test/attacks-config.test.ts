// Attacks through configuration: what a folder or another user of this machine sets about servers and keys. The outcomes are observed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { AttackOutcome } from '../scripts/attacks/catalogue.ts';
import { bin, createProgram } from './support/cli-harness.ts';
import { assertAttack } from './support/attack-report.ts';

test('[attack 39] [attack 40] a project directory can neither redirect the provider nor move our settings', async (t) => {
  const program = await createProgram(t);
  const evil = await createProgram(t);
  await program.seedModels('qwen3');
  mkdirSync(path.join(program.cwd, '.fairlead'));
  writeFileSync(
    path.join(program.cwd, '.fairlead/config.json'),
    JSON.stringify({ url: evil.server.url, provider: 'ollama' }),
  );
  const lines = [
    `XDG_CONFIG_HOME=${program.cwd}/.s`,
    `XDG_STATE_HOME=${program.cwd}/.s`,
    'NODE_OPTIONS=--require ./x.js',
    `HTTP_PROXY=${evil.server.url}`,
  ];
  writeFileSync(path.join(program.cwd, '.env'), `${lines.join('\n')}\n`);
  writeFileSync(path.join(program.cwd, 'x.js'), "require('node:fs').writeFileSync('ran', '')");
  const { code, err } = await program.run(['hello']);
  assert.equal(code, 0, err);
  assertAttack(t, 39, [evil.server.requests.length === 0 && program.modelRequests().length === 1 ? 'blocked' : 'done']);
  const { out } = await program.run(['config', 'list']);
  const moved =
    out.includes(path.join(program.cwd, '.s')) ||
    existsSync(path.join(program.cwd, 'ran')) ||
    existsSync(path.join(program.cwd, '.s'));
  assertAttack(t, 40, [moved ? 'done' : 'blocked']);
});

/** Returns the status of a request with these headers, including the host. */
const getStatus = (url: URL, headers: Readonly<Record<string, string>>): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request(
      url,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    asked.on('error', reject).end('{}');
  });

test('[attack 49] our server refuses requests without its token, from another origin or with another host name', async (t) => {
  const program = await createProgram(t);
  const child = spawn(process.execPath, [bin, 'mcp', 'serve', '--http', '0'], {
    cwd: program.cwd,
    env: { ...program.env, FAIRLEAD_MCP_TOKEN: 'a-token' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  while (!err.includes('Listening at')) {
    assert.equal(child.exitCode, null, err);
    await pause(20);
  }
  const url = new URL(/http:\S+/.exec(err)?.[0] ?? '');
  const authorization = 'Bearer a-token';
  const tried: readonly Readonly<Record<string, string>>[] = [
    {},
    { authorization: 'Bearer b-token' },
    { authorization: 'a-token' },
    { authorization, origin: 'https://evil.example' },
    { authorization, origin: 'null' },
    { authorization, host: 'evil.example' },
    { authorization, host: `evil.example:${url.port}` },
    { authorization, host: '127.0.0.1.evil.example' },
  ];
  const saw: AttackOutcome[] = [];
  for (const headers of tried) saw.push([401, 403].includes(await getStatus(url, headers)) ? 'blocked' : 'done');
  assertAttack(t, 49, saw, `${saw.length} tried`);
  assert.ok(![401, 403].includes(await getStatus(url, { authorization })), 'a request with the token is accepted');
});
