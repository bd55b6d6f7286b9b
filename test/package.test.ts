// What npm ships: the built package, installed into an empty folder, runs and imports there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';

type Manifest = {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};
type Packed = readonly { readonly filename: string; readonly files: readonly { readonly path: string }[] }[];

const root = path.resolve(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;
const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json');
/** The entries whose room has its door; a room without one fails the sizes check, and packing for release refuses. */
const ready = entries.filter((name) => name === '.' || existsSync(path.join(root, 'src', name, 'index.ts')));

function npm(cwd: string, ...args: string[]): string {
  // An outer `npm run` hands its own settings down; the inner npm must find its own folder.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_(package|lifecycle|command|config_local)|INIT_CWD)/.test(name),
    ),
  );
  const own = process.env['npm_execpath'];
  const [command, prefix] = own === undefined ? ['npm', []] : [process.execPath, [own]];
  return execFileSync(command, [...prefix, ...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

test('[P60, A98] the packed package installs into an empty folder, runs its command and imports as a library', (t) => {
  assert.ok(existsSync(path.join(root, 'dist/bin.js')), 'dist is not built: run "npm run build" first');
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-package-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));

  const [packed] = JSON.parse(npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder)) as Packed;
  assert.ok(packed);
  const shipped = packed.files.map((file) => file.path);
  assert.deepEqual(
    shipped.filter((file) => !/^(dist\/|(README|LICENSE|CHANGELOG)(\.md)?$|package\.json$)/.test(file)),
    [],
    'only dist and the papers are shipped',
  );
  assert.deepEqual(
    shipped.filter((file) => /\.test\.|\.ts$(?<!\.d\.ts)/.test(file)),
    [],
    'no tests and no sources are shipped',
  );

  const home = path.join(folder, 'home');
  mkdirSync(home);
  writeFileSync(path.join(home, 'package.json'), '{ "name": "home", "private": true, "type": "module" }');
  npm(
    home,
    'install',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    path.join(folder, packed.filename),
  );

  for (const name of ['fairlead', 'start-harness']) {
    const bin = path.join(home, 'node_modules/.bin', name);
    const said = execFileSync(bin, ['--version'], { encoding: 'utf8', cwd: home, shell: process.platform === 'win32' });
    assert.equal(said, `${manifest.version}\n`);
  }

  const specifiers = ready.map((name) => path.posix.join('fairlead', name));
  const script = specifiers.map((name) => `if (!(await import('${name}'))) throw new Error('${name}');`).join('\n');
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: home, encoding: 'utf8' });

  writeFileSync(
    path.join(home, 'use.ts'),
    specifiers.map((name, i) => `import * as m${i} from '${name}';\nexport { m${i} };`).join('\n'),
  );
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
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
  const types = execFileSync(process.execPath, [tsc, ...options, path.join(root, 'node_modules/@types'), 'use.ts'], {
    cwd: home,
    encoding: 'utf8',
  });
  assert.equal(types, '');
});
