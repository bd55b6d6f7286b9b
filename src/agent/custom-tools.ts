// Loads custom tools: one file per tool. A project's file runs only if the user approved its exact text, and it cannot import other files.
import path from 'node:path';
import { isObject, errorMessage, type Tool, type ToolContext, type Workspace } from '../core/index.ts';
import {
  readTrustedFile,
  importDefaultExport,
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

/** The default export of a custom tool file. The member names of older versions (`input`, `run`, `confirm`) are accepted too. */
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

/** Loads the tools of these directories in order, so that the user is asked one question at a time and the first tool of a name wins. Each is named `custom__…` and deferred. */
export async function loadCustomTools(
  options: CustomToolOptions,
): Promise<{ readonly tools: readonly Tool[]; readonly problems: readonly FileProblem[] }> {
  const tools = new Map<string, Tool>();
  const problems: FileProblem[] = [];
  for (const dir of options.folders)
    for (const { name } of readDirEntries(dir.folder, problems)) {
      if (!/^[^_].*\.m?[jt]s$/.test(name) || /\.(?:test|d)\.m?[jt]s$/.test(name)) continue;
      const file = path.join(dir.folder, name);
      try {
        const loaded = await loadToolFile(dir, file, options);
        if (tools.has(loaded.name))
          throw fileRefusedError(`there is another tool named ${loaded.name}, which comes first`);
        tools.set(loaded.name, loaded);
      } catch (error) {
        problems.push({ path: file, why: errorMessage(error) });
      }
    }
  return { tools: [...tools.values()], problems };
}

async function loadToolFile(dir: ResourceDir, file: string, options: CustomToolOptions): Promise<Tool> {
  const text = await readTrustedFile(dir, file, 'custom tool', options);
  return createCustomTool(await importDefaultExport(file, text), options.workspace);
}

/** Instantiates an exported class, and accepts the member names of older versions and other harnesses: `input` or `schema`, and `run`. */
function normalizeDefinition(exported: unknown): unknown {
  const definition: unknown = typeof exported === 'function' ? Reflect.construct(exported, []) : exported;
  if (!isObject(definition)) return definition;
  const { schema, ...members } = definition;
  // The members of a class instance are on its prototype, so a spread does not copy its functions.
  const execute = definition['execute'] ?? definition['run'];
  const inputSchema = definition['inputSchema'] ?? definition['input'] ?? schema;
  return { ...upgradeDefinition(members), inputSchema, execute, self: definition };
}

function createCustomTool(exported: unknown, workspace: Workspace): Tool {
  const definition = normalizeDefinition(exported);
  if (!isObject(definition))
    throw fileRefusedError('exports no object by default: give it name, description, inputSchema and execute');
  const { execute, name, inputSchema, self } = definition as Partial<CustomTool> & { readonly self: unknown };
  if (typeof execute !== 'function') throw fileRefusedError('has no execute function');
  if (typeof name !== 'string' || name === '') throw fileRefusedError('has no name');
  if (inputSchema === undefined) throw fileRefusedError('has no input schema');
  if (execute.length > 2)
    throw fileRefusedError('has an execute function with more than two arguments: the input and the context');
  return tool({
    ...(definition as CustomTool),
    name: `custom__${name}`,
    deferred: true,
    execute: (value, context) => execute.call(self, value as never, { ...context, workspace }),
  });
}
