// The `serve` command: serves the HTTP API and the dashboard of a fleet, with its own worker unless --no-worker is given.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, FairleadError, isLoopbackHost, isPathInside, type FleetStore } from '../../core/index.ts';
import type { Worker, WorkerOptions } from '../../fleet/index.ts';
import type { ApiServer, ApiKeys } from '../../server/index.ts';
import type { Command } from '../args/command.ts';
import { lazyDriftHandler } from './fleet/drift-handler.ts';
import { parseWatchdog, withControlThread } from './fleet/control.ts';
import { parseCount } from './fleet/parse-numbers.ts';
import { retentionOptions, withFleetStore } from './fleet/open-store.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { stringOption, withOptions } from '../args/with-usage.ts';
import { printErr } from '../args/stdio.ts';
import { getDefaultModel, lookUpModel, listRouterNames } from '../../coding-agent/models/index.ts';
import { readKnownModels } from '../../coding-agent/state/index.ts';
import type { RunAgentOptions } from '../../coding-agent/fleet/index.ts';
import { privacyView } from '../../coding-agent/index.ts';
import { readSettings, getObjectives } from '../../coding-agent/settings/index.ts';
import { version } from '../version.ts';

const usage = `Usage: fairlead serve [--host <address>] [--port <port>] [--store <file or url>] [--no-worker] [--concurrency <n>]
                      [--model <name>] [--folder <folder>]... [--any-version] [--key-file <file>] [--allowed-host <name>]...
                      [--control-port <port>] [--watchdog <seconds>] [--releases <folder>]

Serves the dashboard and the API at http://127.0.0.1:8080 (--port 0 for a free port); /openapi.json describes the API.
Every request to /api and /v1 needs a key as "Authorization: Bearer <key>". The operator key is HARNESS_API_KEY; without it
a token is generated at the first start and saved in a file that only you can read; a terminal shows it as a link. With the
operator key on this machine the dashboard also lists the sessions of your terminal, to read and to copy.
HARNESS_API_KEYS or the key file has more keys: reader:<key>, runner:<key>, operator:<key>, or with a tenant as in
runner@<tenant>:<key>, for access to that tenant only. An address that other machines can reach needs a configured key. Runs
work in this directory and below, and in the directories of --folder; they use --model or the configured model, unless they
name another. This process executes 4 runs at a time; with --no-worker they are left to "fairlead worker". Runs that another
version started are left to that version, unless --any-version is given. Health and the kill switch are also answered by a
thread that nothing else can block, at a port of this machine that is printed (--control-port). If the main thread does not
answer for 30 seconds (--watchdog, 0 for never), the process ends with exit code 9; start it again. Runs use the release that
is in use (fairlead release); --releases names another folder of releases.`;

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
  'control-port': stringOption,
  watchdog: stringOption,
  releases: stringOption,
} as const;

/** Serves until a signal; exit code 9 by its watchdog, 130 or 143 by a signal, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = withOptions({ usage, options }, async (values) => {
  const { host = '127.0.0.1', 'key-file': file } = values;
  const port = values.port === undefined ? undefined : parsePort('--port', values.port);
  const controlPort = parsePort('--control-port', values['control-port'] ?? '0');
  const concurrency = parseCount('--concurrency', values.concurrency);
  const { loadApiKeys, startApiServer } = await import('../../server/index.ts');
  const settings = readSettings();
  const watchdog = parseWatchdog(values.watchdog, settings);
  const folders = (values.folder ?? []).map(resolveFolder);
  if (file !== undefined) assertOutside(file, [process.cwd(), ...folders]);
  const keys = loadApiKeys({
    env: process.env,
    folder: settings.dirs.state,
    ...(file === undefined ? {} : { file }),
  });
  const { announceDefaultModel } = await import('../../coding-agent/fleet/index.ts');
  await announceDefaultModel(settings, values.model, printErrLine);
  return withFleetStore(values.store, async (store, storeUrl) => {
    const { defaultObjectives, getBaselinesDir, getMeasurementsDir } = await import('../../fleet/health/index.ts');
    const { createTerminalSessions } = await import('../../sessions/index.ts');
    const { listCalibrations } = await import('../../coding-agent/calibrations/index.ts');
    const pageDir = findPageDir() ?? buildPage();
    const shared = {
      keys,
      version,
      folder: process.cwd(),
      health: { objectives: getObjectives(settings), baselinesDir: getBaselinesDir(settings.dirs.state) },
      allowedHosts: values['allowed-host'] ?? [],
    };
    const server = await startApiServer({
      ...shared,
      store,
      host,
      folders,
      measurementsDir: getMeasurementsDir(settings.dirs.state),
      calibrations: () => listCalibrations(settings.dirs),
      releases: async () => {
        const { openUserReleases } = await import('../../coding-agent/releases/index.ts');
        const objectives = { ...defaultObjectives, ...getObjectives(settings) };
        return { releases: openUserReleases(settings, values.releases).releases, canary: { objectives } };
      },
      replay: async (events, { isComparable, from, model, signal }) => {
        const { replayCodingSession } = await import('../../coding-agent/replay/index.ts');
        return replayCodingSession(events, {
          settings: readSettings(),
          cwd: process.cwd(),
          from,
          model,
          isSubagent: !isComparable,
          // A download or another question needs the user at a terminal.
          host: { confirm: async () => false, progress: () => {}, notify: printErrLine, signal },
          signal,
        });
      },
      models: async () => listKnownModels(values.model),
      isModel: async (model) => isKnownModel(model),
      terminalSessions: createTerminalSessions(settings.dirs),
      views: [privacyView],
      notify: printErrLine,
      ...(port === undefined ? {} : { port }),
      ...(pageDir === undefined ? {} : { staticDir: pageDir }),
    });
    const listen = { ...shared, port: controlPort };
    const isLocal = isLoopbackHost(host) && shared.allowedHosts.length === 0;
    return withControlThread({ store: storeUrl, listen, ...watchdog }, async (control) => {
      const worker = values['no-worker']
        ? undefined
        : await startServeWorker(store, { model: values.model, canKeepPermissions: isLocal }, values.releases, {
            onStatus: control.report,
            onSettled: (run, { type }) =>
              type === 'waiting' ? printErrLine(formatWaitingLine(server.url, run.id)) : undefined,
            ...(concurrency === undefined ? {} : { concurrency }),
            ...(values['any-version'] ? {} : { version }),
          });
      return serveUntilSignal(server, worker, async () => printListening(server, keys, await control.ready));
    });
  });
});

/** The line about a run that waits for the user, with the link that opens it. */
const formatWaitingLine = (url: string, run: string): string =>
  `${escapeInvisibleLine(run)} waits for approval: ${url}/#/runs/${encodeURIComponent(run)}`;

const printErrLine = (text: string): void => printErr(`${text}\n`);

function parsePort(name: string, text: string): number {
  const port = parseCount(name, text, 0);
  if (port === undefined || port > 65_535)
    throw new TypeError(`${name} needs a number from 0 to 65535, not "${text}".`);
  return port;
}

/** Prints the URL. The generated key is in the fragment of a link, which a browser does not send; and only in a terminal, because other output is kept in logs. */
function printListening({ url }: ApiServer, { newToken, tokenFile }: ApiKeys, controlUrl: string | undefined): void {
  const lines = [`Listening at ${url}`];
  if (tokenFile === undefined) lines.push(`Open ${url} and enter the key of HARNESS_API_KEY`);
  else if (process.stderr.isTTY)
    lines.push(`Open ${url}/#key=${newToken ?? readFileSync(tokenFile, 'utf8').trim()}`, `The key is in ${tokenFile}`);
  else lines.push(`The key is in ${tokenFile}`);
  lines.push(`Control at ${controlUrl}: health and kill switch, also while ${url} does not answer`);
  // One write: a program that waits for the first line may read the others at once.
  printErrLine(lines.join('\n'));
}

/** Returns the directory of the built dashboard: beside the bundle, or in a checkout. */
function findPageDir(): string | undefined {
  const candidates = ['web', '../web', '../../../web/dist', '../../../dist/web'];
  return candidates
    .map((candidate) => path.resolve(import.meta.dirname, candidate))
    .find((dir) => existsSync(path.join(dir, 'index.html')) && existsSync(path.join(dir, 'assets')));
}

/** Builds the dashboard on first use in a checkout; a package contains it. */
function buildPage(): string | undefined {
  const builder = path.resolve(import.meta.dirname, '../../../web/build.ts');
  if (!import.meta.filename.endsWith('.ts') || !existsSync(builder)) return undefined;
  printErrLine('Building the dashboard, once.');
  spawnSync(process.execPath, [builder], { stdio: ['ignore', 'ignore', 'inherit'] });
  return findPageDir();
}

/** Resolves a directory of the command line. */
function resolveFolder(dir: string): string {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return path.resolve(dir);
  throw new TypeError(`--folder needs a directory, and "${dir}" is none.`);
}

/** Throws if the key file is in a directory of runs: a run could read the keys and approve its own calls. */
function assertOutside(file: string, dirs: readonly string[]): void {
  if (!existsSync(file)) return;
  const real = realpathSync(file);
  const parent = dirs.find((dir) => isPathInside(realpathSync(dir), real));
  if (parent !== undefined)
    throw new FairleadError('cli/open-keys', `Runs work in ${parent} and could read the key file there.`, {
      blame: 'user',
      hint: 'Move the key file, or start the server in another directory.',
    });
}

function listKnownModels(configured: string | undefined): readonly string[] {
  const settings = readSettings();
  const defaultModel = getDefaultModel(settings, configured);
  const resolve = (name: string): string => JSON.stringify(lookUpModel(name, settings)?.ref ?? name);
  // The default may have the name of its provider before it, which the list of the endpoint does not have.
  const isDefault = (id: string): boolean =>
    defaultModel?.endsWith(`/${id}`) === true && resolve(id) === resolve(defaultModel);
  const known = (readKnownModels(settings) ?? []).flatMap(({ id }) => (isDefault(id) ? [] : [id]));
  return [...new Set([...(defaultModel === undefined ? [] : [defaultModel]), ...known])];
}

/** Whether a model that is not in the list can be requested: one of another provider, a router, or any if there is no list. */
function isKnownModel(model: string): boolean {
  const settings = readSettings();
  const known = readKnownModels(settings) ?? [];
  if (known.length === 0 || listRouterNames(settings).includes(model)) return true;
  return lookUpModel(model, settings) !== undefined;
}

async function startServeWorker(
  store: FleetStore,
  agentOptions: RunAgentOptions,
  releasesFolder: string | undefined,
  workerOptions: Pick<WorkerOptions, 'concurrency' | 'version' | 'onStatus' | 'onSettled'>,
): Promise<Worker> {
  const [{ startWorker }, { getWorkerInfo }, { loadRunHandlers }] = await Promise.all([
    import('../../fleet/index.ts'),
    import('../../fleet/health/index.ts'),
    import('../../coding-agent/fleet/index.ts'),
  ]);
  return startWorker({
    store,
    handlers: {
      ...(await loadRunHandlers(printErrLine, agentOptions, releasesFolder)),
      'eval-drift': lazyDriftHandler(printErrLine),
    },
    info: getWorkerInfo,
    notify: printErrLine,
    ...retentionOptions(readSettings()),
    ...workerOptions,
  });
}

/** Serves until a signal; then accepts no request, ends the streams, and releases the runs. A client may send a request as soon as `onReady` was called. */
async function serveUntilSignal(
  server: ApiServer,
  worker: Worker | undefined,
  onReady: () => Promise<void>,
): Promise<number> {
  let code: number | undefined;
  const { promise: signalled, resolve } = Promise.withResolvers<void>();
  const handle = (signal: NodeJS.Signals): void => {
    if (code !== undefined) return worker?.abort();
    code = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    if (worker && worker.running > 0)
      printErrLine(`Releasing ${worker.running} run${worker.running === 1 ? '' : 's'}.`);
    worker?.stop();
    resolve();
  };
  process.on('SIGINT', handle).on('SIGTERM', handle);
  try {
    await onReady();
    // A worker that cannot start ends the server with its error.
    await Promise.race([signalled, ...(worker ? [worker.done] : [])]);
  } finally {
    await server.close();
    worker?.stop();
    await worker?.done;
    process.off('SIGINT', handle).off('SIGTERM', handle);
  }
  return code ?? exitCodes.failed;
}
