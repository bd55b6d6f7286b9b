// Law 7: imports between the modules of src point down the layers, and core imports nothing.
import { isTestFile, type RepoCheck, type FileImport, type SourceFile } from './source-tree.ts';

/** The modules of each layer, from the bottom up. Modules of one layer do not import each other. */
export const layers: readonly (readonly string[])[] = [
  ['core'],
  ['wire'],
  ['providers', 'tools', 'rules', 'guards', 'stores', 'workspace', 'testing', 'checks', 'retrieval'],
  ['agent'],
  ['sessions', 'fleet', 'bridges', 'tracing'],
  ['coding-agent'],
  ['evals'],
  ['server'],
  ['cli'],
];

/** The modules that may import the wire formats of the providers, besides the layers from agent up. */
const wireUsers: readonly string[] = ['providers', 'testing'];

/** Modules that may be missing from src, because they are planned. */
const plannedModules: readonly string[] = ['wire'];

/** The only product file that may load `testing`: it opens the test providers by name, and loads them only then. */
const testProvidersFile = 'src/agent/test-providers.ts';

/** The file `src/index.ts`, which exports what most programs need; it may import what the bridges may, and the bridges. */
const packageEntry = 'the package entry';

/** Whether an import past the index of another module is an error. Off: the number of such imports is printed instead. */
export const forbidDeepImports: boolean = true;

/** The files that the dashboard runs in the browser: they import nothing that a browser lacks. */
const sharedWithWeb: readonly string[] = ['src/core/markdown/index.ts', 'src/tracing/span-tree.ts'];

/** The modules whose types the dashboard imports. */
const typesForWeb: readonly string[] = ['core', 'checks', 'tracing'];

/** Fails on an import that points up or sideways, on an import of core, and on a module that the layers do not list or that src lacks. */
export const checkLayers: RepoCheck = (tree) => {
  const problems: string[] = [];
  const existing = new Set(tree.paths.flatMap((file) => /^src\/([^/]+)\//.exec(file)?.[1] ?? []));
  for (const module of layers.flat())
    if (!existing.has(module) && !plannedModules.includes(module))
      problems.push(`The layers list the module ${module}, which src does not have.`);
  for (const file of tree.sources.values()) {
    const module = getModuleName(file.path);
    if (module === undefined || isTestFile(file.path)) continue;
    if (file.problem !== undefined) problems.push(`${file.path} does not parse: ${file.problem}.`);
    if (module !== 'web' && getLayer(module) < 0)
      problems.push(`${file.path} is in src/${module}, which no layer of the repository lists.`);
    else for (const each of file.imports) problems.push(...checkImport(file, module, each));
  }
  return problems;
};

/** The imports that reach past the index of another module, one sentence each. */
export const listDeepImports: RepoCheck = (tree) =>
  [...tree.sources.values()].flatMap((file) => {
    const module = getModuleName(file.path);
    if (module === undefined || module === 'web' || isTestFile(file.path)) return [];
    return file.imports
      .filter(({ target }) => target !== undefined && isDeepImport(module, target))
      .map(
        ({ specifier, line }) => `${file.path}:${line} imports '${specifier}': import from the index of the module.`,
      );
  });

/** Whether a file is neither `src/<module>/index.ts` nor `src/<module>/<folder>/index.ts` of another module. */
function isDeepImport(module: string, target: string): boolean {
  const other = getModuleName(target);
  if (other === undefined || other === module || other === packageEntry) return false;
  return !/^src\/[^/]+\/(?:[^/]+\/)?index\.ts$/.test(target);
}

function checkImport(file: SourceFile, module: string, each: FileImport): string[] {
  const where = `${file.path}:${each.line} imports '${each.specifier}'`;
  if (/^fairlead(\/|$)/.test(each.specifier)) {
    if (module === 'web' && each.specifier === 'fairlead/core' && each.kind === 'type') return [];
    return [`${where}: inside the repository, import by relative path.`];
  }
  if (each.target === undefined)
    return module === 'core' ? [`${where}: core imports no package and nothing of Node.`] : [];
  if (isTestFile(each.target)) return [`${where}: product code does not import tests.`];
  const other = getModuleName(each.target);
  if (other === module) return [];
  if (module === 'web')
    return (each.kind === 'type' && other !== undefined && typesForWeb.includes(other)) ||
      sharedWithWeb.includes(each.target)
      ? []
      : [
          `${where}: web imports the types of core, checks and tracing, the Markdown parser of core, the tree of spans of tracing, and nothing else.`,
        ];
  if (other === undefined)
    return each.target === 'package.json' && module !== 'core' ? [] : [`${where}: that is outside src.`];
  if (other === 'testing') {
    if (file.path === testProvidersFile && each.kind !== 'value') return [];
    return [`${where}: product code does not import testing.`];
  }
  if (mayImport(module, other))
    return forbidDeepImports && isDeepImport(module, each.target)
      ? [`${where}: import from the index of the module.`]
      : [];
  if (module === 'core') return [`${where}: core imports nothing outside itself.`];
  if (other !== packageEntry && getLayer(module) === getLayer(other))
    return [`${where}: ${module} and ${other} are in one layer, and modules of one layer do not import each other.`];
  return [`${where}: ${module} may not import ${other}; imports point down the layers.`];
}

/** Whether a module is above another one; only some modules of the first layers may import `wire`. */
function mayImport(module: string, other: string): boolean {
  if (other === packageEntry || getLayer(other) >= getLayer(module)) return false;
  return other !== 'wire' || wireUsers.includes(module) || getLayer(module) >= getLayer('agent');
}

/** The number of the layer of a module, from the bottom up; -1 if no layer lists it. */
function getLayer(module: string): number {
  if (module === packageEntry) return getLayer('coding-agent');
  return layers.findIndex((layer) => layer.includes(module));
}

function getModuleName(file: string): string | undefined {
  const [top, module, ...rest] = file.split('/');
  if (top === 'web') return 'web';
  if (top !== 'src' || module === undefined) return undefined;
  return rest.length > 0 ? module : packageEntry;
}
