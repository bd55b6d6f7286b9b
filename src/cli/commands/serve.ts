// The `serve` command: the API and the page over a fleet's store, with a worker of its own unless told otherwise.
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isPathInside, type FleetStore } from '../../core/index.ts';
import type { Worker, WorkerOptions } from '../../fleet/index.ts';
import type { ApiServer, ApiKeys } from '../../server/index.ts';
import type { Command } from '../args/command.ts';
import { parseCount } from './fleet/parse-numbers.ts';
import { retentionOptions, withFleetStore } from './fleet/open-store.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { withOptions } from '../args/with-usage.ts';
import { printErr } from '../args/stdio.ts';
import { announceDefaultModel, getDefaultModel } from '../../coding-agent/models/default-model.ts';
import { readKnownModels } from '../../coding-agent/state/index.ts';
import { findModel, getModelEndpoint, listRouterNames } from '../../coding-agent/models/resolve-model.ts';
import { privacyView } from '../../coding-agent/privacy.ts';
import { readSettings } from '../../coding-agent/settings/index.ts';
import { getObjectives } from '../../coding-agent/settings/objectives.ts';
import { version } from '../version.ts';

const usage = `Usage: fairlead serve [--host <address>] [--port <port>] [--store <file or address>] [--no-worker] [--concurrency <n>]
                      [--model <name>] [--folder <folder>]... [--any-version] [--key-file <file>] [--allowed-host <name>]...

Serves the page and the API at http://127.0.0.1:8080 (--port 0 for a free port); /openapi.json describes what can be asked.
Every request under /api and /v1 needs a key as "Authorization: Bearer <key>". The operator's is HARNESS_API_KEY; without one
a token is made on the first start, kept in a file that only you can read, and shown once as a link. More keys stand in
HARNESS_API_KEYS or in the key file, as reader:<key>, runner:<key>, runner@<tenant>:<key> or operator:<key>. An address that others can reach needs
a key that you set. Runs work in this folder and those below it, and in those that --folder names; they use --model, or the
model that is set here, unless they name another. Runs are worked on here, 4 at a time, unless --no-worker leaves them to "fairlead worker"; runs that
another version of this program began are left to it, unless --any-version takes them too.`;

const stringOption = { type: 'string' } as const;
const options = {
  host: stringOption,
  port: stringOption,
  store: stringOption,
  'no-worker': { type: 'boolean' },
  concurrency: stringOption,
  model: stringOption,
  folder: { type: 'string', multiple: true },
  'any-version': { type: 'boolean' },
  'key-file': stringOption,
  'allowed-host': { type: 'string', multiple: true },
} as const;

/** Serves until it is told to end: 130 or 143 by a signal, 1 where it cannot, 2 misused. */
export const run: Command['run'] = withOptions({ usage, options }, async (values) => {
  const { host = '127.0.0.1', 'key-file': file } = values;
  const port = values.port === undefined ? undefined : parsePort(values.port);
  const concurrency = parseCount('--concurrency', values.concurrency);
  const { loadApiKeys, startApiServer } = await import('../../server/index.ts');
  const settings = readSettings();
  const folders = (values.folder ?? []).map(resolveFolder);
  if (file !== undefined) assertOutside(file, [process.cwd(), ...folders]);
  const keys = loadApiKeys({
    env: process.env,
    folder: settings.dirs.state,
    ...(file === undefined ? {} : { file }),
  });
  await announceDefaultModel(settings, values.model, printErrLine);
  return withFleetStore(values.store, async (store) => {
    const { getMeasurementsDir } = await import('../../fleet/health/index.ts');
    const page = findPageFolder() ?? buildPage();
    const server = await startApiServer({
      store,
      keys,
      version,
      host,
      folder: process.cwd(),
      folders,
      measurementsDir: getMeasurementsDir(settings.dirs.state),
      health: { objectives: getObjectives(settings) },
      models: async () => listKnownModels(values.model),
      isModel: async (model) => isKnownModel(model),
      views: [privacyView],
      notify: printErrLine,
      ...(port === undefined ? {} : { port }),
      ...(page === undefined ? {} : { staticDir: page }),
      allowedHosts: values['allowed-host'] ?? [],
    });
    const worker = values['no-worker']
      ? undefined
      : await startServeWorker(store, values.model, {
          ...(concurrency === undefined ? {} : { concurrency }),
          ...(values['any-version'] ? {} : { version }),
        });
    return serveUntilSignal(server, worker, () => printListening(server, keys));
  });
});

const printErrLine = (sentence: string): void => printErr(`${sentence}\n`);

function parsePort(given: string): number {
  const port = parseCount('--port', given, 0);
  if (port === undefined || port > 65_535)
    throw new TypeError(`--port needs a number from 0 to 65535, not "${given}".`);
  return port;
}

/** The key is in the link once, when it is made: it is the person's to keep. What follows # is sent to nobody. */
function printListening({ url }: ApiServer, { newToken, tokenFile }: ApiKeys): void {
  printErrLine(`Listening at ${url}`);
  if (newToken !== undefined)
    printErrLine(`Open ${url}/#key=${newToken}\nThis link is shown once; the key is kept in ${tokenFile}`);
  else if (tokenFile !== undefined) printErrLine(`Its key is in ${tokenFile}`);
}

/** Where the page was built: beside the bundle, or in a checkout. */
function findPageFolder(): string | undefined {
  const places = ['web', '../web', '../../../web/dist', '../../../dist/web'];
  return places
    .map((place) => path.resolve(import.meta.dirname, place))
    .find((folder) => existsSync(path.join(folder, 'index.html')) && existsSync(path.join(folder, 'assets')));
}

/** In a checkout the page is built on first use: a package brings it along. */
function buildPage(): string | undefined {
  const builder = path.resolve(import.meta.dirname, '../../../web/build.ts');
  if (!import.meta.filename.endsWith('.ts') || !existsSync(builder)) return undefined;
  printErrLine('Building the page, once.');
  spawnSync(process.execPath, [builder], { stdio: ['ignore', 'ignore', 'inherit'] });
  return findPageFolder();
}

/** A folder that was named on the command line. */
function resolveFolder(given: string): string {
  if (statSync(given, { throwIfNoEntry: false })?.isDirectory()) return path.resolve(given);
  throw new TypeError(`--folder needs a folder, and "${given}" is none.`);
}

/** A run could read the keys of a file in its folder, and answer its own questions with one. */
function assertOutside(file: string, folders: readonly string[]): void {
  if (!existsSync(file)) return;
  const real = realpathSync(file);
  const around = folders.find((folder) => isPathInside(realpathSync(folder), real));
  if (around !== undefined)
    throw new FairleadError('cli/open-keys', `Runs work in ${around}, and could read the key file there.`, {
      blame: 'user',
      hint: 'Keep it elsewhere, or start the server in another folder.',
    });
}

function listKnownModels(named: string | undefined): readonly string[] {
  const settings = readSettings();
  const usual = getDefaultModel(settings, named);
  const known = (readKnownModels(settings) ?? []).map(({ id }) => id);
  return [...new Set([...(usual === undefined ? [] : [usual]), ...known])];
}

/** Whether a model can be asked for that the list does not have: one of another provider, a router, or any where there is no list. */
function isKnownModel(model: string): boolean {
  const settings = readSettings();
  const known = readKnownModels(settings) ?? [];
  if (known.length === 0 || listRouterNames(settings).includes(model)) return true;
  return findModel(model, known, getModelEndpoint(settings, known)) !== undefined;
}

async function startServeWorker(
  store: FleetStore,
  model: string | undefined,
  how: Pick<WorkerOptions, 'concurrency' | 'version'>,
): Promise<Worker> {
  const [{ startWorker }, { getWorkerInfo }, { createRunHandlers }] = await Promise.all([
    import('../../fleet/index.ts'),
    import('../../fleet/health/index.ts'),
    import('../../coding-agent/fleet/run-handlers.ts'),
  ]);
  return startWorker({
    store,
    handlers: createRunHandlers((text) => printErr(`${text}\n`), model),
    info: getWorkerInfo,
    notify: printErrLine,
    ...retentionOptions(readSettings()),
    ...how,
  });
}

/** Serves until a signal comes; then takes nothing new, ends the streams, and hands the runs over. Whoever is told that it listens may send one at once. */
async function serveUntilSignal(server: ApiServer, worker: Worker | undefined, ready: () => void): Promise<number> {
  let code: number | undefined;
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const end = (signal: NodeJS.Signals): void => {
    if (code !== undefined) return worker?.abort();
    code = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    if (worker && worker.running > 0)
      printErrLine(`Handing over ${worker.running} run${worker.running === 1 ? '' : 's'}.`);
    worker?.stop();
    resolve();
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  ready();
  try {
    // A worker that cannot work at all ends the server with its reason.
    await Promise.race([told, ...(worker ? [worker.done] : [])]);
  } finally {
    await server.close();
    worker?.stop();
    await worker?.done;
    process.off('SIGINT', end).off('SIGTERM', end);
  }
  return code ?? exitCodes.failed;
}
