// A package registry on the loopback interface that serves packages which a test defines, and npm that uses it.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { getNpmCommand } from './npm-package.ts';

/** A package that the registry serves as version 1.0.0. */
export type ServedPackage = { readonly name: string; readonly code: string; readonly scripts?: Record<string, string> };

/** What `npm ci` did. */
export type InstallOutcome = { readonly code: number; readonly output: string };

/** A registry, and a project that installs from it. */
export type TestRegistry = {
  readonly project: string;
  /** Runs `npm ci` in the project with this manifest and lockfile. */
  install(manifest: object, packages: object, ...flags: string[]): Promise<InstallOutcome>;
};

/** Returns the integrity of bytes, as a lockfile states it. */
export const formatIntegrity = (bytes: string | Buffer): string =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

/** Starts a registry that serves packages. */
export async function startRegistry(t: TestContext, served: readonly ServedPackage[]): Promise<TestRegistry> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-registry-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const tarballs = new Map(served.map((each) => [each.name, packTarball(each)]));
  const server = createServer((request, response) => {
    const [name = '', isTarball] = (request.url ?? '').slice(1).split('/');
    const tarball = tarballs.get(name);
    if (tarball === undefined) return void response.writeHead(404).end('{}');
    if (isTarball !== undefined) return void response.end(tarball);
    const dist = { tarball: `${url}${name}/-/${name}-1.0.0.tgz`, integrity: formatIntegrity(tarball) };
    const versions = { '1.0.0': { name, version: '1.0.0', dist } };
    return void response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions }));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const project = path.join(folder, 'project');
  mkdirSync(project);
  return {
    project,
    async install(manifest, packages, ...flags) {
      const named = { name: 'project', version: '1.0.0', ...manifest };
      const lock = { name: 'project', version: '1.0.0', lockfileVersion: 3, requires: true };
      writeFileSync(path.join(project, 'package.json'), JSON.stringify(named));
      writeFileSync(
        path.join(project, 'package-lock.json'),
        JSON.stringify({ ...lock, packages: { '': named, ...packages } }),
      );
      const options = ['--registry', url, '--cache', path.join(folder, 'cache'), '--no-audit', '--no-fund'];
      // An outer `npm run` passes the settings of the repository as npm_config_ variables, which count more than those of the project.
      const { file, args, env } = getNpmCommand(['ci', ...options, ...flags], /^(npm_|INIT_CWD)/);
      const npm = spawn(file, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
      const [code] = (await once(npm, 'close')) as [number];
      return { code, output };
    },
  };
}

/** Packs a package as `npm pack` does, without the start of another npm. */
function packTarball({ name, code, scripts }: ServedPackage): Buffer {
  const manifest = JSON.stringify({ name, version: '1.0.0', main: 'index.js', license: 'MIT', scripts });
  const end = Buffer.alloc(1024);
  return gzipSync(
    Buffer.concat([createTarEntry('package/package.json', manifest), createTarEntry('package/index.js', code), end]),
  );
}

/** A file of a tar archive: a header of 512 bytes, and the text filled up to a multiple of it. */
function createTarEntry(name: string, text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const entry = Buffer.alloc(512 + Math.ceil(bytes / 512) * 512);
  const fields = { 0: name, 100: '0000644', 108: '0000000', 116: '0000000', 136: '00000000000', 257: 'ustar\u000000' };
  for (const [at, field] of Object.entries(fields)) entry.write(field, Number(at));
  entry.write(bytes.toString(8).padStart(11, '0'), 124);
  entry.write('0', 156);
  // The checksum is the sum of the header with spaces in its place.
  entry.fill(' ', 148, 156);
  const sum = entry.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  entry.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  entry.write(text, 512);
  return entry;
}
