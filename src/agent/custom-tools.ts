// Tools that people write themselves: one file, one object. What runs is the very text that was approved, and nothing that it could bring along.
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
import { projectDirs, type FileProblem } from './project-files/paths.ts';
import { readDirEntries, type ProjectLocation, type ResourceDir } from './project-files/search-dirs.ts';
import type { SchemaLike } from './schema.ts';

/** What a custom tool is handed beside its input: what every tool is, and the workspace to reach the world through. */
export type CustomToolContext = ToolContext & { readonly workspace: Workspace };

/** The default export of a custom tool file. The member names of older versions (`input`, `run`, `confirm`) are accepted too. */
export type CustomTool = Omit<ToolDefinition<SchemaLike>, 'execute' | 'deferred'> & {
  readonly execute: (input: never, context: CustomToolContext) => unknown;
};

/** A file of a project that is not approved as it is. */
export type UnapprovedToolFile = UnapprovedFile;

/** How custom tools are loaded. */
export type CustomToolOptions = FileApprovalOptions & {
  readonly folders: readonly ResourceDir[];
  readonly workspace: Workspace;
};

const customToolsFolder = 'custom_tools';

/** Where custom tools lie: in the person's own folder, then in the project, nearest first. */
export function customToolDirs({ cwd, configDir, stopAt }: ProjectLocation): readonly ResourceDir[] {
  const folders = projectDirs(cwd, stopAt);
  const inside = folders.at(-1) ?? cwd;
  return [
    { folder: path.join(configDir, customToolsFolder), scope: 'personal' },
    ...folders.flatMap((each) =>
      ['.fairlead', '.'].map((below): ResourceDir => ({
        folder: path.join(each, below, customToolsFolder),
        scope: 'project',
        inside,
      })),
    ),
  ];
}

/** Loads the tools of these folders, one after the other: questions come one at a time, and the first of a name wins. Each is named `custom__…` and hidden until it is loaded. */
export async function loadCustomTools(
  options: CustomToolOptions,
): Promise<{ readonly tools: readonly Tool[]; readonly problems: readonly FileProblem[] }> {
  const tools = new Map<string, Tool>();
  const problems: FileProblem[] = [];
  for (const shelf of options.folders)
    for (const { name } of readDirEntries(shelf.folder, problems)) {
      if (!/^[^_].*\.m?[jt]s$/.test(name) || /\.(?:test|d)\.m?[jt]s$/.test(name)) continue;
      const file = path.join(shelf.folder, name);
      try {
        const tool = await loadToolFile(shelf, file, options);
        if (tools.has(tool.name)) throw fileRefusedError(`there is another tool named ${tool.name}, which comes first`);
        tools.set(tool.name, tool);
      } catch (error) {
        problems.push({ path: file, why: errorMessage(error) });
      }
    }
  return { tools: [...tools.values()], problems };
}

async function loadToolFile(shelf: ResourceDir, file: string, options: CustomToolOptions): Promise<Tool> {
  const text = await readTrustedFile(shelf, file, 'custom tool', options);
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
