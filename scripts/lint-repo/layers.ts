// Law 7: imports point down. The core imports nothing, the rooms of floor 1 never import each other, the top knows the rest.
import { isTestFile, type RepoCheck, type FileImport, type SourceFile } from './source-tree.ts';

const layerOneModules = ['providers', 'tools', 'rules', 'guards', 'checks', 'stores', 'workspace', 'testing'] as const;
/** Product code never reaches into `testing`: it is what users test their agents with. */
const productModules = layerOneModules.filter((room) => room !== 'testing');
/** The one door: the stand-ins for a model that are opened by name, loaded only when they are. */
const standInsFile = 'src/agent/test-providers.ts';
const modulesBelowServer = ['core', ...productModules, 'agent', 'bridges', 'fleet'];

/** The rooms each room may import besides itself; the front door is `src/index.ts`. */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  core: [],
  ...Object.fromEntries(layerOneModules.map((room) => [room, ['core']])),
  agent: ['core', ...productModules],
  bridges: ['core', ...productModules, 'agent'],
  fleet: ['core', ...productModules, 'agent'],
  // The command that starts the server stands above it: it hands it the terminal's agent.
  cli: [...modulesBelowServer, 'server'],
  server: modulesBelowServer,
  'the front door': modulesBelowServer,
};

/** Fails on an import that points up or sideways, on a stranger in the core, and on a room that the plan does not know. */
export const checkLayers: RepoCheck = (tree) => {
  const wrong: string[] = [];
  for (const file of tree.sources.values()) {
    const room = getModuleName(file.path);
    if (room === undefined || isTestFile(file.path)) continue;
    if (file.problem !== undefined) wrong.push(`${file.path} does not parse: ${file.problem}.`);
    if (room !== 'web' && allowedImports[room] === undefined)
      wrong.push(`${file.path} is in src/${room}, which is no room of the house plan.`);
    else for (const each of file.imports) wrong.push(...checkImport(file, room, each));
  }
  return wrong;
};

function checkImport(file: SourceFile, room: string, each: FileImport): string[] {
  const where = `${file.path}:${each.line} imports '${each.specifier}'`;
  if (/^fairlead(\/|$)/.test(each.specifier)) {
    if (room === 'web' && each.specifier === 'fairlead/core' && each.kind === 'type') return [];
    return [`${where}: inside the house, import by relative path.`];
  }
  if (each.target === undefined)
    return room === 'core' ? [`${where}: the core imports no package and nothing of Node.`] : [];
  if (isTestFile(each.target)) return [`${where}: product code does not import tests.`];
  const other = getModuleName(each.target);
  if (other === room) return [];
  if (room === 'web')
    return other === 'core' && each.kind === 'type' ? [] : [`${where}: web knows the core's types and HTTP only.`];
  if (other === undefined)
    return each.target === 'package.json' && room !== 'core' ? [] : [`${where}: that is outside src.`];
  if (allowedImports[room]?.includes(other)) return [];
  if (other === 'testing' && file.path === standInsFile && each.kind !== 'value') return [];
  if (other === 'testing') return [`${where}: product code does not import testing.`];
  if (room === 'core') return [`${where}: the core imports nothing outside itself.`];
  if (isLayerOne(room) && isLayerOne(other))
    return [`${where}: rooms of floor 1 never import each other; they meet in core's types.`];
  return [`${where}: ${room} may not import ${other}; imports point down.`];
}

function getModuleName(file: string): string | undefined {
  const [top, room, ...rest] = file.split('/');
  if (top === 'web') return 'web';
  if (top !== 'src' || room === undefined) return undefined;
  return rest.length > 0 ? room : 'the front door';
}

function isLayerOne(room: string): boolean {
  return layerOneModules.some((each) => each === room);
}
