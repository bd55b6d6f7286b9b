// The image and the containers of a fleet: the Dockerfile and the compose file are checked, and built and run if there is an engine.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after, type TestContext } from 'node:test';
import type { FleetRun, JsonObject } from '../src/core/index.ts';
import { closedUrl, says, scriptedServer, type Script } from '../src/testing/index.ts';
import {
  findBaseImage,
  buildImage,
  findFreePort,
  podman,
  removeImage,
  startContainer,
  waitForContainer,
  createVolume,
  type Container,
  type ContainerStartOptions,
} from './support/container.ts';
import { createBarrier } from './support/fleet-program.ts';
import { lintCompose, parseCompose, lintDockerfile } from './support/container-lint.ts';
import { repoRoot } from './support/npm-package.ts';
import { startPostgres } from './support/postgres.ts';
import { createProgramHome } from './support/program-dirs.ts';
import { noSandbox } from './support/sandbox.ts';

const readRepoFile = (file: string): string => readFileSync(path.join(repoRoot, file), 'utf8');

/** Each of these changes must be detected. */
function assertProblemsFound(
  text: string,
  faults: (text: string) => readonly string[],
  broken: readonly (readonly [string, string, RegExp])[],
): void {
  assert.deepEqual(faults(text), []);
  for (const [from, to, told] of broken) {
    assert.ok(text.includes(from), from);
    assert.match(faults(text.replaceAll(from, to)).join('\n'), told, `${from} -> ${to}`);
  }
}

test('[P54] the Dockerfile passes the linter and our checks, and each check detects its error', () => {
  assertProblemsFound(readRepoFile('Dockerfile'), lintDockerfile, [
    ['USER node', 'USER root', /run by root/],
    ['USER node\n', '', /run by root/],
    ['NODE_ENV=production', 'NODE_ENV=production OPENAI_API_KEY=sk-1', /secret is built in/],
    ['ARG NODE_IMAGE=', 'ARG NPM_TOKEN\nARG NODE_IMAGE=', /secret is built in/],
    ['node:24-bookworm-slim', 'node', /no exact image/],
    ['node:24-bookworm-slim', 'node:24-bookworm-slim@sha256:12', /no exact image/],
    [' AS system', '', /stages are/],
    ['npm ci --ignore-scripts', 'npm ci', /scripts of packages/],
    ['ENTRYPOINT ["fairlead"]', 'ENTRYPOINT fairlead', /shell stands before/],
    ['HEALTHCHECK --interval=15s', 'HEALTHCHECK --interval=15q', /15q|unit|duration/i],
    ['EXPOSE 8080', 'EXPOSE x', /Invalid containerPort/],
    ['RUN apt-get', 'RUNN apt-get', /Unknown instruction/],
  ]);
});

test('[P54] the compose file matches its schema, publishes no port, requires its secrets, and sets only variables that the program reads', () => {
  assertProblemsFound(readRepoFile('compose.yaml'), lintCompose, [
    ['127.0.0.1:8080', '8080', /others can reach it/],
    [':?set it to a long random key', ':-', /may be empty/],
    ['${HARNESS_API_KEY:?set it to a long random key}', 'abc', /secret is written/],
    ['OLLAMA_API_URL', 'HARNESS_MODUL', /nobody reads HARNESS_MODUL/],
    ['postgres:17-alpine', 'postgres', /not named exactly/],
    ['read_only', 'read_olny', /additional properties/],
    ['internal: true', 'internal: false', /is open/],
    ['stop_grace_period: 30s', 'stop_grace_period: 5s', /time to end/],
    ['cap_drop: [ALL]', 'cap_drop: [NET_RAW]', /capabilities/],
    ['no-new-privileges:true', 'no-new-privileges:false', /may get rights/],
  ]);
});

test('[P54] the program accepts the commands of the image and of each container', (t) => {
  const { services } = parseCompose(readRepoFile('compose.yaml'));
  const [, own = ''] = /^CMD (\[.*\])$/m.exec(readRepoFile('Dockerfile')) ?? [];
  const commands = [
    ...Object.values(services).flatMap(({ command }) => (command ? [command] : [])),
    JSON.parse(own) as string[],
  ];
  assert.equal(commands.length, 3);
  const { fairlead } = createProgramHome(t);
  for (const command of commands) {
    const { status, stdout } = fairlead([...command, '--help']);
    assert.equal(status, 0, command.join(' '));
    assert.match(stdout, new RegExp(`^Usage: fairlead ${command[0]}`));
  }
});

test('[P54] the health check queries the server at its own port, and reports every other process as healthy', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-health-'));
  t.after(() => rmSync(folder, { recursive: true }));
  let status = 200;
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const check = async (line: string): Promise<number> => {
    const file = path.join(folder, 'cmdline');
    writeFileSync(file, `${line.replaceAll(' ', '\0')}\0`);
    const child = spawn(process.execPath, [path.join(repoRoot, 'scripts/image-health.ts'), file], { stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  };
  assert.equal(await check(`node /usr/local/bin/fairlead serve --host 0.0.0.0 --port ${port}`), 0);
  assert.equal(await check(`/sbin/docker-init -- fairlead serve --port=${port} --host 127.0.0.1`), 0);
  assert.equal(await check(`node /usr/local/bin/harness-serve --no-worker --port ${port}`), 0);
  assert.deepEqual(asked, ['/healthz', '/healthz', '/healthz']);
  status = 503;
  assert.equal(await check(`fairlead serve --port ${port}`), 1);
  assert.equal(await check(`fairlead serve --port ${new URL(await closedUrl()).port}`), 1);
  const before = asked.length;
  for (const other of ['fairlead worker', 'fairlead factory serve', '/run/podman-init -- fairlead worker --name serve'])
    assert.equal(await check(other), 0, other);
  assert.equal(asked.length, before);
});

const engine = findBaseImage();
const skip = 'missing' in engine ? { skip: engine.missing } : {};
let image: Promise<string> | undefined;
/** The image, built once. */
const getTestImage = (): Promise<string> => (image ??= buildImage('base' in engine ? engine.base : ''));
after(async () => image && removeImage(await image.catch(() => '')));

const key = 'the-key-of-a-test-server';

/** A model server on this machine, and the environment that points a container to it. */
async function startModel(t: TestContext, script: Script<JsonObject>): Promise<Readonly<Record<string, string>>> {
  const server = await scriptedServer(script, { models: [{ id: 'alpha', tools: true, context: 32_000 }] });
  t.after(() => server.close());
  return { HARNESS_INFERENCE_PROVIDER: 'lm-studio', OLLAMA_API_URL: server.url };
}

type Reply = { readonly status: number; readonly body: JsonObject };
type ServedContainer = Container & {
  readonly ask: (request: string, body?: unknown, wait?: number) => Promise<Reply>;
};

/** Starts a server in a container and waits until it is ready. */
async function startServer(t: TestContext, starting: ContainerStartOptions): Promise<ServedContainer> {
  const port = await findFreePort();
  const container = await startContainer(t, await getTestImage(), {
    ...starting,
    args: ['serve', '--host', '0.0.0.0', '--port', `${port}`, ...starting.args],
    env: { HARNESS_API_KEY: key, ...starting.env },
  });
  const ask: ServedContainer['ask'] = async (request, body, wait = 0) => {
    const [method = '', address = ''] = request.split(' ');
    const answer = await fetch(`http://127.0.0.1:${port}${address}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: `wait=${wait}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as JsonObject };
  };
  await waitForContainer('it is ready', container, () =>
    ask('GET /readyz').then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  return { ...container, ask };
}

const parseRun = ({ body }: Reply): FleetRun => body['run'] as unknown as FleetRun;

test(
  '[P54] the image serves as an unprivileged user on a read-only system, becomes healthy, answers, stops in order and keeps its runs',
  skip,
  async (t) => {
    const env = await startModel(t, ({ prompt }) => `You said: ${prompt}`);
    const data = await createVolume(t);
    const first = await startServer(t, { args: [], env, data });
    assert.equal(await first.health(), 'healthy');
    assert.equal((await first.exec('id', '-u')).out, '1000\n');
    assert.match((await first.exec('touch', '/usr/local/bin/x')).err, /Read-only file system/);
    assert.match((await first.exec('cat', '/proc/self/status')).out, /^CapEff:\s+0+$[^]*^NoNewPrivs:\s+1$/m);
    const ended = parseRun(await first.ask('POST /api/runs', { prompt: 'hello', model: 'lm-studio/alpha' }, 60));
    assert.equal(ended.outcome?.text, 'You said: hello');
    assert.equal(await first.stop(), 143, await first.logs());
    assert.doesNotMatch(await first.logs(), new RegExp(key));

    const second = await startServer(t, { args: [], env, data });
    assert.equal(parseRun(await second.ask(`GET /api/runs/${ended.id}`)).outcome?.text, 'You said: hello');
  },
);

test('[P54] the image does not listen on a public address without a key', skip, async (t) => {
  const container = await startContainer(t, await getTestImage(), { args: [] });
  await waitForContainer('it has ended', container, async () => (await podman('wait', container.name)).out === '1\n');
  assert.match(await container.logs(), /no key is configured[^]*Set HARNESS_API_KEY/);
});

test(
  '[P54] if the engine allows the sandbox, a command in the container is sandboxed',
  { skip: 'missing' in engine ? engine.missing : await noSandbox() },
  async (t) => {
    const security = ['seccomp=unconfined', 'unmask=ALL'];
    const container = await startContainer(t, await getTestImage(), { args: ['doctor', '--offline'], security });
    await waitForContainer('it has ended', container, async () => (await podman('wait', container.name)).code === 0);
    assert.match(await container.logs(), /^ok {4}commands +A command in bubblewrap had no network/m);
  },
);

const postgres = 'base' in engine ? await startPostgres() : engine.missing;
if (typeof postgres !== 'string') after(() => postgres.close());

test(
  '[P54] a server and workers in containers share a PostgreSQL, and a stopped worker releases its run to another',
  typeof postgres === 'string' ? { skip: postgres } : {},
  async (t) => {
    assert.ok(typeof postgres !== 'string');
    const held = createBarrier();
    t.after(() => held.open());
    const env = {
      ...(await startModel(t, async ({ index }) => {
        if (index === 0) await held.wait();
        return says('Finished.');
      })),
      HARNESS_STORE: await postgres.createDatabase(),
    };
    const server = await startServer(t, { args: ['--no-worker'], env });
    const worker = (): Promise<Container> =>
      getTestImage().then((built) => startContainer(t, built, { args: ['worker', '--grace', '1'], env }));
    const first = await worker();
    const { id } = parseRun(await server.ask('POST /api/runs', { prompt: 'go', model: 'lm-studio/alpha' }));
    await held.reached;
    assert.equal(await first.health(), 'healthy', 'a worker has no port');
    assert.equal(await first.stop(), 143);
    assert.match(await first.logs(), /Releasing 1 run\./);

    const second = await worker();
    await waitForContainer(
      'the run has ended',
      second,
      async () => parseRun(await server.ask(`GET /api/runs/${id}`)).status === 'ended',
    );
    const run = parseRun(await server.ask(`GET /api/runs/${id}`));
    assert.deepEqual([run.outcome?.text, run.attempts], ['Finished.', 2]);
    assert.equal(await server.stop(), 143);
  },
);
