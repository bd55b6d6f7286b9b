// The npm package, installed into an empty directory: it runs and can be imported there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { runNpm, packPackage, repoRoot } from './support/npm-package.ts';

type Manifest = {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};

const manifest = JSON.parse(readFileSync(path.join(repoRoot, 'package.json'), 'utf8')) as Manifest;
const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json');
/** The entries whose source exists; a module without an index fails the sizes check, and packing for release refuses. */
const existingEntries = entries.filter((name) => {
  const target = manifest.exports[name];
  const source = typeof target === 'object' ? target.types.replace('./dist/types/', 'src/') : '';
  return existsSync(path.join(repoRoot, source.replace(/\.d\.ts$/, '.ts')));
});

test('[P54, P60, A98] the packed package installs into an empty directory, runs its commands there, and an agent created with it answers', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-package-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));

  const { tarball, files: shipped } = packPackage(folder);
  assert.deepEqual(
    shipped.filter(
      (file) => !/^(dist\/|prompts\/[\w-]+\.md$|(README|LICENSE|CHANGELOG)(\.md)?$|package\.json$)/.test(file),
    ),
    [],
    'only dist, the prompts, the licence and the documents are published',
  );
  assert.deepEqual(
    shipped.filter((file) => /\.test\.|\.ts$(?<!\.d\.ts)/.test(file)),
    [],
    'no tests and no sources are published',
  );
  assert.ok(shipped.includes('dist/web/index.html'), 'the dashboard is published');
  assert.ok(shipped.includes('prompts/code-review.md'), 'the prompts are published');

  const home = path.join(folder, 'home');
  mkdirSync(home);
  writeFileSync(path.join(home, 'package.json'), '{ "name": "home", "private": true, "type": "module" }');
  runNpm(home, 'install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', tarball);
  assert.deepEqual(
    readdirSync(path.join(home, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['fairlead'],
    'no other package is needed',
  );

  const says = (name: string, ...args: string[]): string =>
    execFileSync(path.join(home, 'node_modules/.bin', name), args, {
      encoding: 'utf8',
      cwd: home,
      shell: process.platform === 'win32',
    });
  for (const name of ['fairlead', 'harness', 'start-harness', 'start-harness-jayjader'])
    assert.equal(
      says(name, '--version'),
      `${manifest.version}
`,
    );
  assert.match(says('harness-serve', '--help'), /^Usage: fairlead serve/);
  const agent = [
    "import { Agent } from 'fairlead';",
    "import { scriptedProvider } from 'fairlead/testing';",
    'const model = scriptedProvider(({ prompt }) => `You said: ${prompt}`);',
    "console.log((await new Agent({ model }).run('hello')).text);",
  ].join('\n');
  const answer = execFileSync(process.execPath, ['--input-type=module', '--eval', agent], {
    cwd: home,
    encoding: 'utf8',
  });
  assert.equal(answer, 'You said: hello\n');

  const specifiers = existingEntries.map((name) => path.posix.join('fairlead', name));
  const script = specifiers.map((name) => `if (!(await import('${name}'))) throw new Error('${name}');`).join('\n');
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: home, encoding: 'utf8' });

  // Modules that are loaded on demand load too.
  const chunks = path.join(home, 'node_modules/fairlead/dist/chunks');
  const every = readdirSync(chunks).filter((name) => name.endsWith('.js'));
  assert.ok(every.length > 100, `${every.length} chunks`);
  const loading = `for (const name of ${JSON.stringify(every)}) await import('${pathToFileURL(chunks).href}/' + name);\nprocess.exit();`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', loading], { cwd: home, encoding: 'utf8' });

  writeFileSync(
    path.join(home, 'use.ts'),
    specifiers.map((name, i) => `import * as m${i} from '${name}';\nexport { m${i} };`).join('\n'),
  );
  const tsc = path.join(repoRoot, 'node_modules/typescript/bin/tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'esnext',
    '--types',
    'node',
    '--typeRoots',
  ];
  const types = execFileSync(
    process.execPath,
    [tsc, ...options, path.join(repoRoot, 'node_modules/@types'), 'use.ts'],
    {
      cwd: home,
      encoding: 'utf8',
    },
  );
  assert.equal(types, '');
});
