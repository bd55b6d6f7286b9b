// Loads custom tools: files that export classes or objects. A project's file runs only if the user approved its exact text, and it cannot import other files.
import path from 'node:path';
import { isObject, errorMessage, type Tool, type ToolContext, type Workspace } from '../core/index.ts';
import {
  readTrustedFile,
  importExports,
  fileRefusedError,
  type FileApprovalOptions,
  type UnapprovedFile,
} from './trusted-file.ts';
import { tool, upgradeDefinition, type ToolDefinition } from './define-tool.ts';
import type { FileProblem } from './project-files/paths.ts';
import { readDirEntries, resourceDirs, type ProjectLocation, type ResourceDir } from './project-files/search-dirs.ts';
import type { SchemaLike } from './schema.ts';

/** The context of a custom tool: that of every tool, and the workspace for files, commands and the network. */
export type CustomToolContext = ToolContext & { readonly workspace: Workspace };

/** An export of a custom tool file. `schema` and `input_schema`, and the member names of older versions (`input`, `run`, `confirm`), are accepted too. */
export type CustomTool = Omit<ToolDefinition<SchemaLike>, 'execute' | 'deferred'> & {
  readonly execute: (input: never, context: CustomToolContext) => unknown;
};

/** A project's tool file that is not approved with its current text. */
export type UnapprovedToolFile = UnapprovedFile;

/** The options of `loadCustomTools`. */
export type CustomToolOptions = FileApprovalOptions & {
  readonly folders: readonly ResourceDir[];
  readonly workspace: Workspace;
};

/** The directories of custom tools: the user's own, then those of the project, nearest first. */
export const customToolDirs = (location: ProjectLocation): readonly ResourceDir[] =>
  resourceDirs(location, 'custom_tools', [], ['.']);

const pythonFileProblem =
  'is a Python file, which is not loaded: custom tools are .js, .mjs, .ts or .mts files; Python code can be offered by an MCP server';

/** Loads the tools of these directories in order, so that the user is asked one question at a time and the first tool of a name wins. Each is named `custom__…` and deferred. */
export async function loadCustomTools(
  options: CustomToolOptions,
): Promise<{ readonly tools: readonly Tool[]; readonly problems: readonly FileProblem[] }> {
  const tools = new Map<string, Tool>();
  const problems: FileProblem[] = [];
  for (const dir of options.folders)
    for (const { name } of readDirEntries(dir.folder, problems)) {
      const file = path.join(dir.folder, name);
      if (/^[^_].*\.py$/.test(name)) problems.push({ path: file, why: pythonFileProblem });
      if (!/^[^_].*\.m?[jt]s$/.test(name) || /\.(?:test|d)\.m?[jt]s$/.test(name)) continue;
      try {
        const text = await readTrustedFile(dir, file, 'custom tool', options);
        for (const definition of findDefinitions(await importExports(file, text))) {
          const loaded = createCustomTool(definition, options.workspace);
          if (tools.has(loaded.name))
            throw fileRefusedError(`there is another tool named ${loaded.name}, which comes first`);
          tools.set(loaded.name, loaded);
        }
      } catch (error) {
        problems.push({ path: file, why: errorMessage(error) });
      }
    }
  return { tools: [...tools.values()], problems };
}

/** The members of a definition under the names of `tool`; its functions are bound to their object. */
type Definition = Readonly<Record<string, unknown>>;

/** The tools among the exports: every object and class with a schema and an execute function. A file with none is refused with what its default export lacks. */
function findDefinitions(exports: Readonly<Record<string, unknown>>): readonly Definition[] {
  const { default: main, ...named } = exports;
  const fromMain = toDefinition(main);
  const found: Definition[] = fromMain ? [fromMain] : [];
  const sources = new Set([main]);
  for (const exported of Object.values(named)) {
    if (sources.has(exported)) continue;
    sources.add(exported);
    const definition = toDefinition(exported, { isOptional: true });
    if (definition && hasToolMembers(definition)) found.push(definition);
  }
  const tools = found.filter((each) => each !== fromMain || found.length === 1 || hasToolMembers(each));
  if (tools.length === 0)
    throw fileRefusedError('exports no object or class with name, description, inputSchema and execute');
  return tools;
}

const hasToolMembers = (definition: Definition): boolean =>
  definition['inputSchema'] !== undefined && typeof definition['execute'] === 'function';

/** Instantiates a class and names the members as `tool` does. Undefined for any other value. */
function toDefinition(
  exported: unknown,
  { isOptional = false }: { readonly isOptional?: boolean } = {},
): Definition | undefined {
  const isClass = typeof exported === 'function' && /^class\b/.test(Function.prototype.toString.call(exported));
  if (!isClass) return isObject(exported) ? normalizeDefinition(exported, {}) : undefined;
  try {
    return normalizeDefinition(Reflect.construct(exported, []) as object, exported);
  } catch (error) {
    // A class that other exports extend may not be constructible; it is not a tool.
    if (isOptional) return undefined;
    throw error;
  }
}

/** The members of a definition beside its name, description, schema and execute function, also those of older versions. */
const optionalMembers = [
  'effect',
  'needsApproval',
  'outputSchema',
  'checkOutcome',
  'confirm',
  'idempotent',
  'timeoutMs',
  'untrustedOutput',
  'annotations',
];

/** Accepts `schema`, `input_schema`, `input` and `run`, static members, and a `schema` that wraps name, description and input schema. */
function normalizeDefinition(instance: object, statics: object): Definition {
  const owner = (name: string): object => (Reflect.get(instance, name) === undefined ? statics : instance);
  // The members of a class are on its prototype or on the class itself, so a spread does not copy them.
  const member = (name: string): unknown => {
    const value: unknown = Reflect.get(owner(name), name);
    return typeof value === 'function' ? (value.bind(owner(name)) as unknown) : value;
  };
  const schema = member('inputSchema') ?? member('input_schema') ?? member('input') ?? member('schema');
  const spec = isObject(schema) && ('input_schema' in schema || 'inputSchema' in schema) ? schema : {};
  const others = optionalMembers
    .map((name) => [name, member(name)] as const)
    .filter(([, value]) => value !== undefined);
  return {
    ...upgradeDefinition(Object.fromEntries(others)),
    name: Reflect.get(instance, 'name') ?? spec['name'] ?? Reflect.get(statics, 'name'),
    description: member('description') ?? spec['description'],
    inputSchema: spec['input_schema'] ?? spec['inputSchema'] ?? schema,
    execute: member('execute') ?? member('run'),
  };
}

function createCustomTool(definition: Definition, workspace: Workspace): Tool {
  const { execute, name, inputSchema } = definition as Partial<CustomTool>;
  if (typeof execute !== 'function') throw fileRefusedError('has no execute function');
  if (typeof name !== 'string' || name === '') throw fileRefusedError('has no name');
  if (inputSchema === undefined) throw fileRefusedError('has no input schema');
  if (execute.length > 2)
    throw fileRefusedError('has an execute function with more than two arguments: the input and the context');
  return tool({
    ...(definition as unknown as CustomTool),
    name: `custom__${name}`,
    deferred: true,
    execute: (value, context) => execute(value as never, { ...context, workspace }),
  });
}
