// What guides promise: the comparison, the roadmap and its gates, the layers, the extras, and the metrics of a real server.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { layers } from '../scripts/lint-repo/layers.ts';
import { commands } from '../src/cli/command-table.ts';
import { createProgram, waitUntil } from './support/cli-harness.ts';

const root = path.resolve(import.meta.dirname, '..');
const readRepoFile = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const { scripts, ...manifest } = JSON.parse(readRepoFile('package.json')) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: object;
  readonly optionalDependencies?: object;
};

/** The rows of the table with this header cell; each row is its cells. */
function readTable(file: string, header: string): readonly (readonly string[])[] {
  const tables = readRepoFile(file)
    .split(/\n(?!\s*\|)/)
    .map((text) => text.split('\n').filter((line) => line.trim().startsWith('|')));
  const rows = tables
    .map((lines) =>
      lines.map((line) =>
        line
          .trim()
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
    )
    .find(([head]) => head?.includes(header));
  assert.ok(rows, `${file} has a table with the column "${header}"`);
  return rows.slice(2);
}

/** The headings of a document as the anchors of links. */
const readAnchors = (file: string): ReadonlySet<string> =>
  new Set(
    [...readRepoFile(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );

test('[P32] the comparison with a vendor’s CLI has an entry for every aspect, says where Fairlead is behind, and is linked from the README', () => {
  assert.match(readRepoFile('README.md'), /\]\(docs\/choosing\.md\)/);
  const rows = readTable('docs/choosing.md', "a model vendor's CLI");
  const aspects = new Map(rows.map(([aspect = '', ...entries]) => [aspect, entries]));
  for (const aspect of [
    'installation',
    'model support',
    'IDE integration',
    'extensibility',
    'cost',
    'maturity',
    'self-hosting',
    'learning',
  ])
    assert.ok((aspects.get(aspect) ?? []).filter((entry) => entry.length > 3).length >= 2, aspect);
  assert.match(aspects.get('IDE integration')?.[0] ?? '', /no extension of its own/);
  assert.match(aspects.get('maturity')?.[0] ?? '', /new/);
  const { version } = JSON.parse(readRepoFile('package.json')) as { readonly version: string };
  assert.ok(aspects.get('maturity')?.[0]?.includes(version.replace(/\.0$/, '')));
});

test('[P81] the comparison links to the selection of a local model, the seven components and the monitoring in production', () => {
  const text = readRepoFile('docs/choosing.md').split('## See also')[1] ?? '';
  for (const link of [
    'embedded.md#which-local-model',
    'architecture.md#the-seven-components-of-a-harness',
    'operations.md#monitoring-in-production',
  ]) {
    assert.ok(text.includes(`](${link})`), link);
    const [file = '', anchor = ''] = link.split('#');
    assert.ok(readAnchors(`docs/${file}`).has(anchor), link);
  }
  const components = readTable('docs/architecture.md', 'component');
  assert.equal(components.length, 7);
  for (const [component = '', places = ''] of components)
    for (const [, name = ''] of places.matchAll(/`([^`]+)`/g))
      assert.ok(existsSync(path.join(root, name)), `${component}: ${name}`);
});

test('[A101] the architecture lists the layers that the check enforces, and every stage of the roadmap has a gate with a test or a command that exists', () => {
  const documented = readTable('docs/architecture.md', 'layer')
    .filter(([layer]) => layer !== '-')
    .map(([layer = '', module = '']) => `${layer} ${module.replaceAll('`', '')}`);
  const enforced = layers.flatMap((modules, layer) => modules.map((module) => `${layer} ${module}`));
  assert.deepEqual(documented.toSorted(), enforced.toSorted());
  for (const [concern = '', modules = ''] of readTable('docs/roadmap.md', 'concern'))
    assert.ok(
      modules
        .match(/`[\w-]+`/g)
        ?.every((name) => existsSync(path.join(root, 'src', name.slice(1, -1))) || name === '`web`'),
      concern,
    );
  const stages = readTable('docs/roadmap.md', 'gate');
  assert.ok(stages.length >= 7);
  for (const [stage = '', , gate = '', checkedBy = ''] of stages) {
    assert.ok(gate.length > 10, stage);
    const names = [...checkedBy.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    assert.ok(names.length > 0, stage);
    for (const name of names)
      assert.ok(
        name.startsWith('npm run ') ? name.slice('npm run '.length) in scripts : existsSync(path.join(root, name)),
        `${stage}: ${name}`,
      );
  }
});

test('[A98] the extras of the documents are what the package has: API, PostgreSQL and OpenTelemetry included, embeddings not', () => {
  const extras = new Map(readTable('docs/deploying.md', 'extra').map(([name = '', here = '']) => [name, here]));
  assert.deepEqual([...extras.keys()], ['`api`', '`postgres`', '`otel`', '`embeddings`', '`all`', '`dev`']);
  for (const name of ['`api`', '`postgres`', '`otel`']) assert.match(extras.get(name) ?? '', /^included/);
  assert.match(extras.get('`embeddings`') ?? '', /^not included/);
  assert.ok('serve' in commands);
  assert.deepEqual([manifest.dependencies, manifest.optionalDependencies], [undefined, undefined]);
  const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  assert.deepEqual(
    sources.filter((file) => /from '@opentelemetry/.test(readRepoFile(file))),
    [],
  );
  assert.match(
    readRepoFile('docs/requirements.yaml'),
    /A98: '.*API, PostgreSQL and OpenTelemetry need no extra installation; embeddings are not included/,
  );
});

test('[P87] a started server has the metrics, the liveness and the page that the monitoring guide names', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const token = 'a-key-for-this-test-only';
  const served = program.start(['serve', '--port', '0'], { env: { HARNESS_API_KEY: token } });
  t.after(() => served.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(served.err()), 30_000);
  const url = /Listening at (\S+)/.exec(served.err())?.[1] ?? '';
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.equal((await fetch(`${url}/metrics`)).status, 401);
  assert.match(await (await fetch(url)).text(), /<html/);
  const headers = { authorization: `Bearer ${token}` };
  const run = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{"prompt":"hi"}' };
  assert.ok((await fetch(`${url}/api/runs`, run)).ok);
  let metrics = '';
  // The worker reports the breaker of a model after it has asked it.
  for (
    const end = Date.now() + 25_000;
    !metrics.includes('fairlead_breaker_open') && Date.now() < end;
    await pause(200)
  )
    metrics = await (await fetch(`${url}/metrics`, { headers })).text();
  const guide = readTable('docs/operations.md', 'metric');
  assert.ok(guide.length >= 8);
  for (const [metric = ''] of guide) {
    const [, name = ''] = /^`(\w+)/.exec(metric) ?? [];
    assert.match(metrics, new RegExp(`^# TYPE ${name} gauge$`, 'm'), metric);
  }
  for (const [series] of guide.flatMap(([metric = '']) => [...metric.matchAll(/\w+\{[^}]+\}/g)]))
    assert.ok(metrics.includes(series.slice(0, -1)), series);
});
