// Data loss prevention over HTTP with the real program: each tenant has its own policy for the answers that leave the server.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { says } from '../src/testing/index.ts';
import { createProgram, waitUntil } from './support/cli-harness.ts';

const iban = 'DE89370400440532013000';
const keys = { acme: 'a-key-of-acme-that-runs', bolt: 'a-key-of-bolt-that-runs', cobb: 'a-key-of-cobb-that-runs' };
type Tenant = keyof typeof keys;

async function startServer(
  t: TestContext,
): Promise<(as: Tenant, request: string, body?: unknown) => Promise<{ status: number; text: string }>> {
  const program = await createProgram(t, () => says(`The account is ${iban}, ask anna@firma-mail.de.`));
  mkdirSync(program.config(), { recursive: true });
  const tenants = { acme: { ways: { answers: 'checked' } }, bolt: { action: 'off' }, cobb: { action: 'block' } };
  writeFileSync(program.config('dlp.json'), JSON.stringify({ tenants }));
  const env = {
    HARNESS_API_KEY: 'a-key-that-operates-all',
    HARNESS_API_KEYS: Object.entries(keys)
      .map(([name, key]) => `runner@${name}:${key}`)
      .join(','),
  };
  const server = program.start(['serve', '--port', '0'], { env });
  t.after(() => server.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(server.err()), 30_000);
  const url = /Listening at (\S+)/.exec(server.err())?.[1] ?? '';
  return async (as, request, body) => {
    const [method = 'GET', address = '/'] = request.split(' ');
    const answer = await fetch(url + address, {
      method,
      headers: { authorization: `Bearer ${keys[as]}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
}

test('[A115] the answers of a server follow the policy of the tenant: removed, unchanged, or blocked', async (t) => {
  const send = await startServer(t);
  const runFor = async (tenant: Tenant): Promise<string> => {
    const created = await send(tenant, 'POST /v1/chat/completions', {
      model: 'fairlead',
      messages: [{ role: 'user', content: 'Which account?' }],
    });
    return `${created.status} ${created.text}`;
  };
  const [acme, bolt, cobb] = [await runFor('acme'), await runFor('bolt'), await runFor('cobb')];
  assert.match(acme, /The account is \[removed: iban\], ask anna@firma-mail\.de/);
  assert.doesNotMatch(acme, new RegExp(iban));
  assert.match(bolt, new RegExp(iban));
  assert.doesNotMatch(cobb, new RegExp(iban));
  assert.match(cobb, /dlp\/blocked|DLP policy blocks/);
});
