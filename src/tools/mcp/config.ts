// Reads the MCP server configuration: the user's own file, and the `.mcp.json` of a project. Reading starts nothing.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isObject, errorMessage, escapeInvisibleLine, systemErrorCode } from '../../core/index.ts';
import type { McpStdioConfig, McpOAuthConfig, McpServer, McpRemoteConfig } from './server.ts';

/** The configured servers, and a sentence for each invalid entry. */
export type McpConfig = { readonly servers: readonly McpServer[]; readonly problems: readonly string[] };

/** The configuration files. */
export type McpConfigPaths = {
  /** The project folder, whose `.mcp.json` is read. */
  readonly project?: string;
  /** The user's own file. */
  readonly user?: string;
};

const maxConfigBytes = 1_000_000;
const maxServers = 100;

/** Returns all configured servers. A project cannot replace a server that the user configured. */
export function readMcpConfig({ project, user }: McpConfigPaths): McpConfig {
  const userConfig = user === undefined ? emptyConfig : readConfigFile(user, 'user');
  const its = project === undefined ? emptyConfig : readConfigFile(path.join(project, '.mcp.json'), 'project');
  const userNames = new Set(userConfig.servers.map(({ name }) => name));
  return {
    servers: [...userConfig.servers, ...its.servers.filter(({ name }) => !userNames.has(name))],
    problems: [
      ...userConfig.problems,
      ...its.problems,
      ...its.servers
        .filter(({ name }) => userNames.has(name))
        .map(
          ({ name, source }) =>
            `${source}: the server ${escapeInvisibleLine(name)} is ignored: you have configured one with this name.`,
        ),
    ],
  };
}

const emptyConfig: McpConfig = { servers: [], problems: [] };

function readConfigFile(file: string, origin: McpServer['origin']): McpConfig {
  let text: string;
  try {
    text = readRegularFile(file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return emptyConfig;
    return { servers: [], problems: [`${file} cannot be read: ${errorMessage(error)}`] };
  }
  return parseMcpConfig(text, { file, origin });
}

/** An untrusted folder may contain a pipe or a device with this name, and reading it would never end. */
function readRegularFile(file: string): string {
  const handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const facts = fstatSync(handle);
    if (!facts.isFile()) throw new Error('it is not a regular file.');
    if (facts.size > 4 * maxConfigBytes) throw new Error('it is too large to be a list of MCP servers.');
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

/** Parses the servers of a configuration text. Unknown keys are ignored, because other programs use the same files. */
export function parseMcpConfig(
  text: string,
  { file, origin }: { readonly file: string; readonly origin: McpServer['origin'] },
): McpConfig {
  const invalidConfig = (problem: string): McpConfig => ({ servers: [], problems: [`${file} ${problem}`] });
  if (text.length > maxConfigBytes) return invalidConfig('is too large to be a list of MCP servers.');
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    return invalidConfig(`is not JSON: ${errorMessage(error)}`);
  }
  const { mcpServers = {} } = isObject(content) ? content : { mcpServers: null };
  if (!isObject(mcpServers)) return invalidConfig('must be an object with the servers under "mcpServers".');
  const entries = Object.entries(mcpServers);
  if (entries.length > maxServers) return invalidConfig(`configures more than ${maxServers} servers.`);
  const servers: McpServer[] = [];
  const problems: string[] = [];
  for (const [name, entry] of entries) {
    if (isObject(entry) && entry['disabled'] === true) continue;
    const server = parseServer(name, entry, file, origin);
    if (typeof server !== 'string') servers.push(server);
    else problems.push(`${file}: the server ${escapeInvisibleLine(name)} cannot be used: ${server}.`);
  }
  return { servers, problems };
}

function parseServer(name: string, entry: unknown, file: string, origin: McpServer['origin']): McpServer | string {
  if (!isObject(entry)) return 'it must be an object';
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@/-]{0,63}$/u.test(name)) return 'its name must be a short plain word';
  const reach = parseTransport(entry, path.dirname(path.resolve(file)), origin);
  if (typeof reach === 'string') return reach;
  const { timeout, trust, trustReadOnly, onDemand } = entry;
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0 && timeout < 2 ** 31))
    return '"timeout" must be a number of milliseconds above 0';
  // A project may not raise the trust in its own servers.
  if (origin === 'project' && trustReadOnly === true) return 'only your own file may set "trustReadOnly"';
  if (origin === 'project' && trust === true) return 'only your own file may set "trust"';
  if (origin === 'project' && 'login' in reach && reach.login?.checkIssuer === false)
    return 'only your own file may set "checkIssuer"';
  return {
    name,
    origin,
    source: path.resolve(file),
    transport: reach,
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(trust === true ? { trust } : {}),
    ...(trustReadOnly === true ? { trustReadOnly } : {}),
    ...(typeof onDemand === 'boolean' ? { onDemand } : {}),
  };
}

const transportTypes: Readonly<Record<string, McpRemoteConfig['type'] | 'stdio'>> = {
  stdio: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  sse: 'sse',
  ws: 'ws',
  websocket: 'ws',
};

function parseTransport(
  entry: Readonly<Record<string, unknown>>,
  folder: string,
  origin: McpServer['origin'],
): McpStdioConfig | McpRemoteConfig | string {
  // Files differ in the name of this key.
  const { command, url, transport, type = transport } = entry;
  const kind = type === undefined ? inferTransportType(command, url) : transportTypes[String(type)];
  if (kind === undefined) return 'it must have a "command", or a "url" with a "type" of http, sse or ws';
  if (kind !== 'stdio') return parseRemoteConfig(kind, entry);
  // A server of a project runs in the folder of its file. The user has one file for all working folders, so `.` means the present one.
  if (origin === 'project') return parseStdioConfig({ cwd: '.', ...entry }, folder);
  const reach = parseStdioConfig(entry, folder);
  const isHere = typeof entry['cwd'] === 'string' && path.normalize(`${entry['cwd']}/`) === './';
  return isHere && typeof reach !== 'string' ? { ...reach, cwd: '.' } : reach;
}

function inferTransportType(command: unknown, url: unknown): McpRemoteConfig['type'] | 'stdio' | undefined {
  if (typeof command === 'string') return 'stdio';
  if (typeof url !== 'string') return undefined;
  return /^wss?:/i.test(url) ? 'ws' : 'http';
}

function parseStdioConfig(
  { command, args = [], env = {}, cwd }: Readonly<Record<string, unknown>>,
  folder: string,
): McpStdioConfig | string {
  if (typeof command !== 'string' || command.trim() === '') return '"command" must be the name of a program';
  if (!isStringArray(args)) return '"args" must be a list of strings';
  if (!isStringRecord(env)) return '"env" must be an object of strings';
  if (cwd !== undefined && typeof cwd !== 'string') return '"cwd" must be a folder';
  return { type: 'stdio', command, args, env, ...(cwd === undefined ? {} : { cwd: path.resolve(folder, cwd) }) };
}

function parseRemoteConfig(
  type: McpRemoteConfig['type'],
  entry: Readonly<Record<string, unknown>>,
): McpRemoteConfig | string {
  const { url, headers = {}, oauth } = entry;
  const schemes = type === 'ws' ? /^wss?:\/\//i : /^https?:\/\//i;
  if (typeof url !== 'string' || !schemes.test(url) || !URL.canParse(url.replaceAll(/\$\{[^}]*\}/g, 'x')))
    return `"url" must start with ${type === 'ws' ? 'ws:// or wss://' : 'http:// or https://'}`;
  if (!isStringRecord(headers)) return '"headers" must be an object of strings';
  if (oauth === undefined) return { type, url, headers };
  const login = parseOAuthConfig(oauth);
  return typeof login === 'string' ? login : { type, url, headers, login };
}

function parseOAuthConfig(given: unknown): McpOAuthConfig | string {
  if (!isObject(given)) return '"oauth" must be an object';
  const texts = ['clientId', 'clientSecret', 'scope', 'issuer', 'clientMetadataUrl', 'grant'].filter(
    (key) => key in given,
  );
  const bad = texts.find((key) => typeof given[key] !== 'string');
  if (bad !== undefined) return `"oauth.${bad}" must be a string`;
  const { callbackPort: port, grant, checkIssuer } = given;
  if (grant !== undefined && grant !== 'authorization-code' && grant !== 'client-credentials')
    return '"oauth.grant" must be authorization-code or client-credentials';
  if (port !== undefined && !(Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536))
    return '"oauth.callbackPort" must be a port';
  return {
    ...Object.fromEntries(texts.map((key) => [key, given[key]])),
    ...(port === undefined ? {} : { callbackPort: Number(port) }),
    ...(checkIssuer === false ? { checkIssuer } : {}),
  };
}

const isStringArray = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isStringRecord = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string');
