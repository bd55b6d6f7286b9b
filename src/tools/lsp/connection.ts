// A connection to one language server: initialization, requests, document notifications, and published diagnostics.
import { pathToFileURL } from 'node:url';
import { isObject, type Json, type JsonObject } from '../../core/index.ts';
import { LanguageServerProcess, serverEnvironment } from './child.ts';
import type { LanguageServerDefinition } from './definition.ts';
import { lspError, createRpcConnection, type RequestTimeout } from './rpc.ts';

/** The published diagnostics of a document, and its version, if the server gives one. */
export type PublishedDiagnostics = { readonly items: unknown; readonly version?: number };

/** A connected server. */
export type LspConnection = {
  readonly name: string;
  readonly pid: number | undefined;
  /** The capabilities of the server by name. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly isRunning: () => boolean;
  request(method: string, params: Json, wait: RequestTimeout): Promise<unknown>;
  notify(method: string, params: Json): void;
  /** The last published diagnostics by document. */
  readonly published: Map<string, PublishedDiagnostics>;
  /** Resolves when the next diagnostics are published. */
  nextPublished(): Promise<void>;
  close(): Promise<void>;
};

/** How a server is started. */
export type ServerStartOptions = {
  readonly definition: LanguageServerDefinition;
  readonly program: string;
  readonly root: string;
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Wraps a command in a sandbox, if there is one. */
  readonly confine?: (argv: readonly [string, ...string[]], root: string) => readonly [string, ...string[]];
};

const maxPublished = 200;
const maxSections = 1000;

/** Starts a server and initializes it. */
export async function startLanguageServer(start: ServerStartOptions, wait: RequestTimeout): Promise<LspConnection> {
  const { definition, program, root, folder, environment, confine } = start;
  const { name, args, env } = definition;
  const argv = [program, ...args] as const;
  const published = new Map<string, PublishedDiagnostics>();
  let running = true;
  let news = Promise.withResolvers<void>();

  const rpc = createRpcConnection(name, (message) => child.send(message), {
    onRequest: (method, params) => answerServerRequest(method, params, definition, root),
    onNotification(method, params) {
      if (method !== 'textDocument/publishDiagnostics' || !isObject(params)) return;
      const { uri, diagnostics, version } = params;
      if (typeof uri !== 'string' || (published.size >= maxPublished && !published.has(uri))) return;
      published.set(uri, { items: diagnostics, ...(typeof version === 'number' ? { version } : {}) });
      news.resolve();
      news = Promise.withResolvers();
    },
  });
  const child = new LanguageServerProcess(
    { argv: confine?.(argv, root) ?? argv, cwd: root, environment: serverEnvironment(environment, folder, env) },
    {
      onMessage: (value) => rpc.receive(value),
      onEnded(why) {
        running = false;
        rpc.close(why);
      },
    },
  );
  try {
    const { capabilities, ...more } = initializeParams(definition, root, confine === undefined);
    const answer = await rpc.request('initialize', { ...more, capabilities }, wait);
    const offered = isObject(answer) && isObject(answer['capabilities']) ? answer['capabilities'] : undefined;
    if (!offered) throw lspError('lsp/broken', `The language server ${name} did not send its capabilities.`);
    const { positionEncoding = 'utf-16' } = offered;
    if (positionEncoding !== 'utf-16')
      throw lspError('lsp/broken', `The language server ${name} uses a position encoding that was not offered to it.`);
    rpc.notify('initialized', {});
    if (definition.settings) rpc.notify('workspace/didChangeConfiguration', { settings: definition.settings });
    return {
      name,
      pid: child.pid,
      capabilities: offered,
      isRunning: () => running,
      request: (method, params, how) => rpc.request(method, params, how),
      notify: (method, params) => rpc.notify(method, params),
      published,
      nextPublished: () => news.promise,
      close: async () => {
        const farewell = new AbortController().signal;
        await rpc.request('shutdown', null, { signal: farewell, timeoutMs: 300 }).catch(() => {});
        rpc.notify('exit', null);
        await child.close();
      },
    };
  } catch (error) {
    await child.close();
    throw error;
  }
}

/** The initialize parameters. In a sandbox our process id would be another process, or none. */
const initializeParams = ({ initializationOptions }: LanguageServerDefinition, root: string, named: boolean) => {
  const rootUri = pathToFileURL(root).href;
  return {
    processId: named ? process.pid : null,
    clientInfo: { name: 'fairlead' },
    rootUri,
    workspaceFolders: [{ uri: rootUri, name: 'root' }],
    ...(initializationOptions === undefined ? {} : { initializationOptions }),
    capabilities: {
      general: { positionEncodings: ['utf-16'] },
      workspace: { configuration: true, workspaceFolders: true, symbol: {}, didChangeWatchedFiles: {} },
      textDocument: {
        synchronization: {},
        definition: {},
        references: {},
        hover: { contentFormat: ['markdown', 'plaintext'] },
        documentSymbol: { hierarchicalDocumentSymbolSupport: true },
        rename: {},
        publishDiagnostics: { versionSupport: true },
        diagnostic: {},
      },
    },
  } satisfies JsonObject;
};

/** Answers requests of the server: configuration and formalities. Requests to change or open something are declined. */
function answerServerRequest(
  method: string,
  params: unknown,
  { settings }: LanguageServerDefinition,
  root: string,
): Json | undefined {
  if (method === 'workspace/configuration') {
    const items = isObject(params) && Array.isArray(params['items']) ? params['items'].slice(0, maxSections) : [];
    return items.map((item: unknown) =>
      getSettingsSection(settings ?? {}, isObject(item) ? item['section'] : undefined),
    );
  }
  if (method === 'workspace/workspaceFolders') return [{ uri: pathToFileURL(root).href, name: 'root' }];
  if (method === 'workspace/applyEdit') return { applied: false };
  return acknowledgedMethods.has(method) ? null : undefined;
}

const acknowledgedMethods = new Set([
  'client/registerCapability',
  'client/unregisterCapability',
  'window/workDoneProgress/create',
  'window/showMessageRequest',
  'workspace/diagnostic/refresh',
]);

/** Returns a section of the settings by its complete name, or by path if the settings are nested. */
function getSettingsSection(settings: JsonObject, section: unknown): Json {
  if (typeof section !== 'string') return settings;
  if (Object.hasOwn(settings, section)) return settings[section] ?? null;
  let at: Json = settings;
  for (const step of section.split('.')) {
    if (!isObject(at) || !Object.hasOwn(at, step)) return null;
    at = at[step] ?? null;
  }
  return at;
}
