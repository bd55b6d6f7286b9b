// Tests the `models` command by running the program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';
import { bin } from '../../../../test/support/program-dirs.ts';
import { closedUrl, scriptedServer } from '../../../testing/index.ts';

type Outcome = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

async function fairlead(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [bin, 'models', ...args], { env: { PATH: process.env['PATH'] ?? '', ...env } });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
  child.on('close', resolve);
  return { status: await promise, stdout, stderr };
}

test('[A5, J89] the models of a provider are listed with their capabilities, unknown ones as unknown', async (t) => {
  const server = await scriptedServer([], {
    models: [
      { id: 'able', context: 8192, tools: true, images: true },
      { id: 'plain', context: 4096 },
    ],
  });
  t.after(() => server.close());
  const all = await fairlead(['ollama', '--url', server.url]);
  assert.deepEqual([all.status, all.stderr], [0, '']);
  assert.deepEqual(all.stdout.split('\n'), [
    'model  tools  images  reasoning  window  loaded  $ in/out per million',
    'able   yes    yes     no         8192    no      0/0',
    'plain  no     no      no         4096    no      0/0',
    '',
  ]);
  const only = await fairlead(['ollama', '--tools', '--json'], { OLLAMA_HOST: server.url });
  assert.deepEqual(
    (JSON.parse(only.stdout) as { id: string }[]).map(({ id }) => id),
    ['able'],
  );
});

test('[P35] --cost shows the monthly cost, in the cloud and with a local share', async (t) => {
  const server = await scriptedServer([], { models: [{ id: 'gpt-4o' }, { id: 'who-knows' }] });
  t.after(() => server.close());
  const args = ['openai', '--url', `${server.url}/v1`, '--cost', '2000000', '--local-share', '0.8'];
  const { stdout, stderr } = await fairlead(args, { OPENAI_API_KEY: 'k' });
  assert.equal(stderr, '');
  assert.match(stdout, /^gpt-4o .* 2\.5\/10 +\$8\.00 +\$1\.60$/m);
  assert.match(stdout, /^who-knows .* \? +\? +\?$/m);
});

test('without a provider the found providers are listed, the embedded model last', async () => {
  const { status, stdout } = await fairlead([], { ANTHROPIC_API_KEY: 'k', HTTP_PROXY: await closedUrl() });
  assert.equal(status, 0);
  assert.match(stdout, /^anthropic +ANTHROPIC_API_KEY is set$/m);
  assert.match(
    stdout,
    /embedded +built-in fallback \(TinyLlama 1\.1B, 373 MB download\): slow and unreliable\n\nfairlead models <provider>/,
  );
  assert.ok(!stdout.includes('AIza') && !/\bk\b/.test(stdout.replace(/fairlead models.*/, '')), 'no key is shown');
});

test('invalid input gets one sentence and an exit code', async () => {
  const unknown = await fairlead(['olama']);
  assert.deepEqual([unknown.status, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /^There is no provider named "olama"\. Did you mean ollama\?/);
  const key = await fairlead(['groq']);
  assert.match(key.stderr, /^groq needs a key, and GROQ_API_KEY is not set\. Set GROQ_API_KEY/);
  const away = await fairlead(['vllm', '--url', await closedUrl()]);
  assert.deepEqual([away.status, away.stderr.startsWith('Cannot connect to vllm')], [1, true]);
  for (const [args, text] of [
    [['--cost', 'much'], /--cost must be a number above 0, not "much"\.\nUsage:/],
    [['a', 'b'], /unexpected: "b"/],
    [['--frob'], /'--frob'/],
  ] as const) {
    const { status, stderr } = await fairlead(args);
    assert.equal(status, 2);
    assert.match(stderr, text);
  }
});
