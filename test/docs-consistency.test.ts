// What the papers promise about the shape of the product is true of the tree.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const root = path.resolve(import.meta.dirname, '..');
const readRepoFile = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const hasRepoFile = (file: string): boolean => existsSync(path.join(root, file));

const modules: Readonly<Record<string, readonly [file: string, name: string]>> = {
  'command-line entry, extended by commands': ['src/cli/command-table.ts', 'commands'],
  'main loop': ['src/core/loop.ts', 'run'],
  'tool definitions': ['src/agent/define-tool.ts', 'defineTool'],
  'registry with discovery of hidden tools': ['src/agent/tool-registry.ts', 'toolbox'],
  'session state': ['src/agent/session.ts', 'Session'],
  'message structures': ['src/core/message.ts', 'Message'],
};

test('[P1, P3, P4, P5, P6, P7, P8] each module that a harness is expected to have has one place', () => {
  for (const [what, [file, name]] of Object.entries(modules))
    assert.match(readRepoFile(file), new RegExp(`export (?:const|type|class|(?:async )?function) ${name}\\b`), what);
});

test('[P2] the compiled layer is prebuilt packages: nothing of ours is compiled at install', () => {
  assert.match(readRepoFile('docs/decisions/compiled-layer.md'), /node-llama-cpp/);
  const { scripts, dependencies = {} } = JSON.parse(readRepoFile('package.json')) as {
    scripts: Record<string, string>;
    dependencies?: Record<string, string>;
  };
  assert.deepEqual(
    Object.keys(scripts).filter((name) => /^(pre|post)?install$/.test(name)),
    [],
  );
  assert.equal(hasRepoFile('binding.gyp'), false);
  assert.ok(
    Object.values(dependencies).every((version) => /^\d/.test(version)),
    'exact versions',
  );
});

test('[D14] conveniences stand above the harness and its dependencies below it, and none reaches back', () => {
  const imports = (file: string): readonly string[] =>
    [...readRepoFile(file).matchAll(/from '([^']+)'/g)].map(([, from = '']) => from);
  assert.ok(imports('src/agent/agent.ts').includes('./harness.ts'));
  for (const below of ['harness.ts', 'session.ts', 'session-cache.ts', 'define-tool.ts', 'toolbox.ts'])
    assert.ok(!imports(`src/agent/${below}`).includes('./agent.ts'), below);
  for (const pure of ['session-cache.ts', 'define-tool.ts', 'toolbox.ts'])
    assert.ok(!imports(`src/agent/${pure}`).some((from) => /harness|session\.ts/.test(from)), pure);
});

test('[A101, A106, A107, A108] layers, stages with gates and principles are written down, and what holds each principle exists', () => {
  const roadmap = readRepoFile('docs/roadmap.md');
  const [, stages = '', layers = '', principles = ''] = roadmap
    .split(/^\|---.*$/m)
    .map((table) => table.split('##')[0] ?? '');
  assert.equal([...stages.matchAll(/^\| \d\./gm)].length, 5);
  assert.equal(
    layers
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('|')).length,
    8,
  );
  assert.equal([...principles.matchAll(/^\| \d+\./gm)].length, 11);
  for (const [, file = ''] of principles.matchAll(/`((?:src|test)\/[^`]+|tsconfig\.json)`/g))
    assert.ok(hasRepoFile(file), file);
});

test('[P32, P53, P80, P81] the papers on choosing, moving and extending exist, and every link in the papers leads somewhere', () => {
  const papers = [
    'README.md',
    'CONTRIBUTING.md',
    'AGENTS.md',
    ...readdirSync(path.join(root, 'docs'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];
  for (const paper of papers) {
    for (const [, link = ''] of readRepoFile(paper).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
      if (!/^[a-z]+:/.test(link))
        assert.ok(hasRepoFile(path.join(path.dirname(paper), link)), `${paper} links to ${link}`);
    }
  }
  assert.match(readRepoFile('docs/choosing.md'), /## Moving to it/);
});

test('[P79] latency, memory and cost are measured by a command, as ratios to a floor in the same run', () => {
  const { scripts } = JSON.parse(readRepoFile('package.json')) as { scripts: Record<string, string> };
  assert.match(scripts['bench'] ?? '', /bench\/main\.ts/);
  assert.match(readRepoFile('bench/main.ts'), /rss/);
});

test('[M47] the README says how far along it is and under which licence, and both are true', () => {
  const { version, license } = JSON.parse(readRepoFile('package.json')) as { version: string; license: string };
  const said = readRepoFile('README.md');
  assert.ok(said.includes(`Version ${version.split('.').slice(0, 2).join('.')}, in early development`));
  assert.equal(license, 'MIT');
  assert.match(said, /MIT\.\s*$/);
  assert.match(readRepoFile('LICENSE'), /MIT License/);
});
