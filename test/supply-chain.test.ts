// The supply chain: every package is pinned by hash, runs no install script and has an allowed licence; the package states what it contains.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Lockfile } from '../scripts/lint-repo/lockfile.ts';
import { readSourceTree } from '../scripts/lint-repo/source-tree.ts';
import { checkSupplyChain, findStaleUnhashed } from '../scripts/lint-repo/supply-chain.ts';
import { isBundleLicence, isToolLicence } from '../scripts/supply-chain/licences.ts';
import { listBundledPackages } from '../scripts/supply-chain/packages.ts';
import type { Sbom } from '../scripts/supply-chain/sbom.ts';
import { unhashedPackages } from '../scripts/supply-chain/unhashed.ts';
import { assertAttack } from './support/attack-report.ts';
import { repoRoot, runNpm } from './support/npm-package.ts';
import { formatIntegrity, startRegistry } from './support/package-registry.ts';

const read = (file: string): string => readFileSync(path.join(repoRoot, file), 'utf8');
const lock = JSON.parse(read('package-lock.json')) as Lockfile;
const verifier = path.join(repoRoot, 'scripts/verify-install.mjs');

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-supply-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The problems of a repository with one locked package, `tool`. */
function checkPackage(t: TestContext, locked: object, manifest: object = {}, npmrc = ''): string {
  const folder = createFolder(t);
  const packages = { '': {}, 'node_modules/tool': { version: '1.0.0', license: 'MIT', ...locked } };
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify({ packages }));
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(path.join(folder, '.npmrc'), npmrc);
  return checkSupplyChain(readSourceTree(folder)).join('\n');
}

test('every package of the lockfile has a hash, except the platform packages that are listed with the reason', () => {
  assert.deepEqual(findStaleUnhashed(lock), [], 'these have a hash now; remove them from the list');
  // The list may only become shorter.
  assert.ok(unhashedPackages.size <= 52, `${unhashedPackages.size} packages`);
  assert.ok(![...unhashedPackages].some((id) => /linux-x64-gnu|linux-x64@/.test(id)), 'CI and the image install these');
});

test('the check of the supply chain accepts a pinned package and reports each problem', (t) => {
  const integrity = formatIntegrity('x');
  const strict = 'strict-allow-scripts=true\n';
  assert.equal(checkPackage(t, { integrity }), '');
  assert.equal(checkPackage(t, { integrity, hasInstallScript: true }, { allowScripts: { tool: false } }, strict), '');
  assert.match(checkPackage(t, {}), /tool@1\.0\.0 has no hash/);
  assert.match(checkPackage(t, { optional: true, cpu: ['x64'] }), /has no hash/, 'a package that is not on the list');
  assert.match(checkPackage(t, { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }), /not a SHA-512/);
  assert.match(checkPackage(t, { integrity, resolved: 'git+ssh://git@host.test/tool.git' }), /come from the registry/);
  assert.match(checkPackage(t, { integrity, license: 'GPL-3.0-only' }), /licence GPL-3\.0-only/);
  assert.match(checkPackage(t, { integrity, license: undefined }), /licence \(none\)/);
  assert.match(checkPackage(t, { integrity, hasInstallScript: true }, {}, strict), /has an install script; deny it/);
  assert.match(
    checkPackage(t, { integrity, hasInstallScript: true }, { allowScripts: { tool: true } }, strict),
    /deny it/,
  );
  assert.match(checkPackage(t, { integrity }, { allowScripts: { tool: false } }), /which has no install script/);
  assert.match(
    checkPackage(t, { integrity, hasInstallScript: true }, { allowScripts: { tool: false } }),
    /strict-allow-scripts/,
  );
});

test('a licence expression is allowed if a choice of it is allowed, and the bundle has the shorter list', () => {
  for (const licence of ['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND ISC']) assert.ok(isBundleLicence(licence), licence);
  for (const licence of [
    undefined,
    '',
    'GPL-3.0-only',
    'MIT AND GPL-3.0-only',
    '(MIT OR ISC) AND GPL-3.0-only',
    'UNLICENSED',
  ])
    assert.ok(!isToolLicence(licence), String(licence));
  assert.ok(isToolLicence('MPL-2.0') && !isBundleLicence('MPL-2.0'));
});

test('[attack 120] npm ci refuses a package with another hash, and one without a hash is removed before it is used', async (t) => {
  const served = { name: 'binding', code: 'throw new Error("the code of the registry ran")' };
  const registry = await startRegistry(t, [served]);
  const installed = path.join(registry.project, 'node_modules/binding/index.js');
  const locked = { version: '1.0.0', optional: true, cpu: [process.arch] };
  const optional = { optionalDependencies: { binding: '1.0.0' } };

  const unprotected = await registry.install(optional, { 'node_modules/binding': locked });
  assert.equal(unprotected.code, 0, unprotected.output);
  assert.ok(existsSync(installed), 'npm alone installs what it cannot verify');

  const scripts = { prepare: `node ${JSON.stringify(verifier)} .` };
  const verified = await registry.install({ ...optional, scripts }, { 'node_modules/binding': locked });
  assert.equal(verified.code, 0, verified.output);
  assert.match(verified.output, /Removed node_modules\/binding 1\.0\.0: .*cannot be verified.*"npm run lock"/);
  assert.ok(!existsSync(installed));

  const required = { dependencies: { binding: '1.0.0' } };
  const other = await registry.install(required, {
    'node_modules/binding': { version: '1.0.0', integrity: formatIntegrity('the pinned tarball') },
  });
  assert.notEqual(other.code, 0);
  assert.match(other.output, /EINTEGRITY/);
  assert.ok(!existsSync(installed));

  const missing = await registry.install({ ...required, scripts }, { 'node_modules/binding': { version: '1.0.0' } });
  assert.notEqual(missing.code, 0, 'a required package without a hash stops the install');
  assert.match(missing.output, /is not what package-lock\.json pins/);
  assertAttack(t, 120, ['blocked']);
});

test('[attack 120] the scripts that run packages stop if an installed package is not the pinned one, and so does the bundle', (t) => {
  const folder = createFolder(t);
  const place = 'node_modules/tool';
  mkdirSync(path.join(folder, place), { recursive: true });
  writeFileSync(path.join(folder, place, 'package.json'), '{ "name": "tool", "version": "1.0.0", "license": "MIT" }');
  writeFileSync(path.join(folder, place, 'index.js'), '');
  const writeLocks = (pinned: object, installed: object): void => {
    for (const [file, entry] of [
      ['package-lock.json', pinned],
      ['node_modules/.package-lock.json', installed],
    ] as const)
      writeFileSync(path.join(folder, file), JSON.stringify({ packages: { [place]: entry } }));
  };
  const verify = (): number | null => spawnSync(process.execPath, [verifier, folder]).status;
  const bundle = (entry: object): unknown =>
    listBundledPackages(folder, { packages: { [place]: entry } }, [
      { id: path.join(folder, place, 'index.js'), output: 'a.js' },
    ]);

  const pinned = { version: '1.0.0', integrity: formatIntegrity('a') };
  writeLocks(pinned, pinned);
  assert.equal(verify(), 0);
  assert.doesNotThrow(() => bundle(pinned));
  for (const other of [
    { ...pinned, version: '1.0.1' },
    { ...pinned, integrity: formatIntegrity('b') },
    { version: '1.0.0' },
  ]) {
    writeLocks(pinned, other);
    assert.equal(verify(), 1, JSON.stringify(other));
  }
  assert.throws(() => bundle({ ...pinned, version: '1.0.1' }), /is not the package that package-lock\.json pins/);
  assert.throws(() => bundle({ version: '1.0.0' }), /without a hash/);
  writeFileSync(path.join(folder, 'stray.js'), '');
  assert.throws(
    () => listBundledPackages(folder, lock, [{ id: path.join(folder, 'stray.js'), output: 'a.js' }]),
    /neither in the repository nor/,
  );
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const name of ['prepare', 'check', 'build', 'prepack'])
    assert.match(scripts[name] ?? '', /^node scripts\/verify-install\.mjs/, name);
  assertAttack(t, 120, ['blocked']);
});

// An npm that does not know the setting returns it only if a file sets it.
const isStrictSupported = runNpm(tmpdir(), 'config', 'get', 'strict-allow-scripts').trim() !== 'undefined';
test(
  'an install script that is not listed stops the install, and a denied one does not run',
  isStrictSupported ? {} : { skip: 'this npm cannot deny install scripts one by one' },
  async (t) => {
    const folder = createFolder(t);
    const canary = path.join(folder, 'ran');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(canary)}, '')`;
    const registry = await startRegistry(t, [{ name: 'scripted', code, scripts: { postinstall: 'node index.js' } }]);
    cpSync(path.join(repoRoot, '.npmrc'), path.join(registry.project, '.npmrc'));
    const required = { dependencies: { scripted: '1.0.0' } };
    const packages = { 'node_modules/scripted': { version: '1.0.0', hasInstallScript: true } };
    assert.notEqual((await registry.install(required, packages)).code, 0);
    assert.ok(!existsSync(canary), 'an unlisted script ran');
    const denied = await registry.install({ ...required, allowScripts: { scripted: false } }, packages);
    assert.equal(denied.code, 0, denied.output);
    assert.ok(!existsSync(canary), 'a denied script ran');
    rmSync(path.join(registry.project, '.npmrc'));
    await registry.install(required, packages);
    assert.ok(existsSync(canary), 'the script would have run without the settings of the repository');
  },
);

test('the package contains a CycloneDX 1.6 bill of materials of what is bundled, loaded at run time and downloaded', () => {
  assert.ok(existsSync(path.join(repoRoot, 'dist/bin.js')), 'dist is not built: run "npm run build" first');
  const sbom = JSON.parse(read('dist/sbom.cdx.json')) as Sbom;
  const { name, version } = JSON.parse(read('package.json')) as { name: string; version: string };
  assert.deepEqual([sbom.bomFormat, sbom.specVersion, sbom.version], ['CycloneDX', '1.6', 1]);
  assert.match(sbom.serialNumber, /^urn:uuid:[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.equal(sbom.metadata.component['bom-ref'], `pkg:npm/${name}@${version}`);

  const kinds = Map.groupBy(sbom.components, ({ properties }) => properties?.[0]?.value ?? '');
  assert.deepEqual([...kinds.keys()].toSorted(), ['bundled', 'downloaded on demand', 'run-time dependency']);
  const refs = [sbom.metadata.component, ...sbom.components].map((each) => each['bom-ref']);
  assert.equal(new Set(refs).size, refs.length, 'references are unique');
  for (const { ref, dependsOn } of sbom.dependencies)
    assert.deepEqual(
      [ref, ...dependsOn].filter((each) => !refs.includes(each)),
      [],
    );
  const pinned = new Set(Object.values(lock.packages).map(({ integrity }) => integrity));
  for (const { name: component, licenses, hashes, type, purl, scope, ...more } of sbom.components) {
    // An optional peer that only a user installs has no locked version.
    if (more['bom-ref'] === `peer:${component}`) {
      assert.deepEqual([scope, lock.packages[`node_modules/${component}`]], ['optional', undefined]);
      continue;
    }
    assert.ok(licenses?.length === 1, component);
    if (type === 'library') assert.match(purl ?? '', /^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@[\w.-]+$/);
    // The bundler contains one helper without a tarball of its own, and npm downloads the model runtime by version.
    if (component === '@oxc-project/runtime' || component === 'node-llama-cpp') continue;
    const [hash] = hashes ?? [];
    assert.match(hash?.content ?? '', type === 'library' ? /^[\da-f]{128}$/ : /^[\da-f]{64}$/, component);
    if (type === 'library')
      assert.ok(pinned.has(`sha512-${Buffer.from(hash?.content ?? '', 'hex').toString('base64')}`), component);
  }
  const bundled = (kinds.get('bundled') ?? []).map((each) => `${each.name} ${each.version}`);
  const noticed = [...read('dist/third-party.txt').matchAll(/^(\S+ \d+\.\d+\.\S+) \(/gm)].map(([, each]) => each);
  assert.deepEqual(new Set(noticed), new Set(bundled), 'the licence texts are those of the same packages');
  assert.ok(bundled.length > 40, `${bundled.length} packages`);
});

test('each line of the provenance table names a file of the bundle and a file of a package with that hash', () => {
  const [, ...rows] = read('dist/provenance.tsv').trimEnd().split('\n');
  assert.ok(rows.length > 400, `${rows.length} files`);
  assert.ok(rows.filter((row) => row.startsWith('inlined\t')).length < 10);
  const { components } = JSON.parse(read('dist/sbom.cdx.json')) as Sbom;
  for (const row of rows) {
    const [output = '', id = '', file = '', sha256 = ''] = row.split('\t');
    assert.ok(
      components.some(({ name, version }) => id === `${name}@${version}`),
      id,
    );
    assert.ok(output === 'inlined' || existsSync(path.join(repoRoot, 'dist', output)), output);
    if (sha256 === 'inserted by the bundler') continue;
    const name = id.slice(0, id.lastIndexOf('@'));
    const copies = Object.keys(lock.packages).filter((place) => place.endsWith(`node_modules/${name}`));
    const digests = copies
      .map((place) => path.join(repoRoot, place, file))
      .filter((each) => existsSync(each))
      .map((each) => createHash('sha256').update(readFileSync(each)).digest('hex'));
    assert.ok(digests.includes(sha256), row);
  }
});
