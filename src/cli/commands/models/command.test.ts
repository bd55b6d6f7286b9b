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

test('[P35, P85] --cost shows the monthly cost of each listed model, with electricity for a local one', async (t) => {
  const server = await scriptedServer([], { models: [{ id: 'gpt-4o' }, { id: 'who-knows' }] });
  t.after(() => server.close());
  const args = ['openai', '--url', `${server.url}/v1`, '--cost', '2000000', '--local-share', '0.8'];
  const { stdout, stderr } = await fairlead(args, { OPENAI_API_KEY: 'k' });
  assert.equal(stderr, '');
  assert.match(stdout, /^gpt-4o .* 2\.5\/10 +\$8\.00 +\$9\.70$/m, '$1.60 in the cloud and 80% of $10.13');
  assert.match(stdout, /^who-knows .* \? +\? +\?$/m);
  const local = await fairlead(['ollama', '--url', server.url, '--cost']);
  assert.match(local.stdout, /^gpt-4o .* 0\/0 +\$10\.13 electricity +-$/m);
});

test('[P35, P36, P83, P85] --cost without a provider compares a month in the cloud, local and hybrid, and shows payback and lifespan', async () => {
  const { status, stdout, stderr } = await fairlead(['--cost', '--price', '30']);
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^2M tokens a month\./);
  assert.match(stdout, /^cloud +\$60\.00 +\$0\.00 +\$60\.00$/m);
  assert.match(stdout, /^local +\$0\.00 +\$10\.13 +\$10\.13$/m, 'about $10 of electricity');
  assert.match(stdout, /^hybrid, 50% local +\$30\.00 /m);
  assert.match(stdout, /^hybrid, 80% local +\$12\.00 /m);
  assert.match(stdout, /A machine for \$1,500\.00[^]*Pays for itself in 30\.1 months\./);
  assert.match(stdout, /After 3 years: \$295\.50 profit\.\n +After 5 years: \$1,492\.50 profit\./);
  const often = await fairlead(['--cost', '6000000', '--price', '30']);
  assert.match(often.stdout, /Pays for itself in 8\.8 months\./);
  const rare = await fairlead(['--cost', '100000', '--price', '30']);
  assert.match(rare.stdout, /Never pays for itself.*\n +After 3 years: \$1,756\.50 loss\./);
});

test('[P35, P36, P85] --cost uses the price of a named or configured model, and every input can be changed', async (t) => {
  const known = await fairlead(['--cost']);
  assert.match(known.stdout, /Cloud: anthropic\/claude-sonnet-5, \$3\.6 per million tokens \(20% output\)/);
  const configured = await fairlead(['--cost', '--json'], { HARNESS_MODEL: 'openai/gpt-4o' });
  assert.match(configured.stdout, /"cloudModel": "openai\/gpt-4o",\n +"usdPerMillion": 4,/);
  const args = '--cost 4e6 --against openai/gpt-4o --output-share 0.5 --kwh 0.4 --watts 300 --hours 10 --hardware 2000';
  const { stdout } = await fairlead([...args.split(' '), '--local-share', '0.25', '--json']);
  const report = JSON.parse(stdout) as {
    readonly usdPerMillion: number;
    readonly electricity: object;
    readonly setups: readonly { readonly setup: string; readonly usdPerMonth: number }[];
    readonly hardware: { readonly usd: number; readonly paybackMonths: number | null };
  };
  assert.equal(report.usdPerMillion, 6.25);
  assert.deepEqual(report.electricity, { usdPerMonth: 36, kwhPerMonth: 90, usdPerKwh: 0.4 });
  assert.deepEqual(
    report.setups.map(({ setup, usdPerMonth }) => [setup, usdPerMonth]),
    [
      ['cloud', 25],
      ['local', 36],
      ['hybrid', 27.75],
    ],
  );
  assert.deepEqual([report.hardware.usd, report.hardware.paybackMonths], [2000, null]);
  const free = await fairlead(['--cost', '--against', 'ollama/qwen3']);
  assert.match(
    `${free.status} ${free.stderr}`,
    /^1 The price of ollama\/qwen3 is unknown, or it is free\. Give the price/,
  );
  for (const wrong of ['--kwh x', '--hours 25', '--hardware 0', '--local-share 2', '--price -1'])
    await t.test(wrong, async () => assert.equal((await fairlead(['--cost', ...wrong.split(' ')])).status, 2));
});

test('without a provider the found providers are listed, the embedded model last', async () => {
  const { status, stdout } = await fairlead([], { ANTHROPIC_API_KEY: 'k', HTTP_PROXY: await closedUrl() });
  assert.equal(status, 0);
  assert.match(stdout, /^anthropic +ANTHROPIC_API_KEY is set$/m);
  assert.match(
    stdout,
    /embedded +a small model that runs in the program, downloaded when you name it \(TinyLlama 1\.1B, 373 MB; hf:<owner>\/<repo> for another\)\n\nfairlead models <provider>/,
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
