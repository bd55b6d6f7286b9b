// Tools that people write themselves: one file, one object. What runs is the very text that was approved, and nothing that it could bring along.
import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { FairleadError, isObject, messageOf, type Tool, type ToolContext, type Workspace } from '../core/index.ts';
import type { Standing, Trust } from '../guards/index.ts';
import { defineTool, type ToolDefinition } from './define-tool.ts';
import { projectFolders, type Problem } from './project/folders.ts';
import { entriesIn, leadsOut, type ProjectPlaces, type Shelf } from './project/shelves.ts';
import { readText } from './project/text-file.ts';
import type { SchemaLike } from './schema.ts';

/** What a custom tool is handed beside its input: what every tool is, and the workspace to reach the world through. */
export type CustomContext = ToolContext & { readonly workspace: Workspace };

/** What a file of a custom tool exports by default. */
export type CustomTool = Omit<ToolDefinition<SchemaLike>, 'run' | 'hidden'> & {
  readonly run: (input: never, context: CustomContext) => unknown;
};

/** A file of a project that is not approved as it is. */
export type CustomFile = {
  readonly path: string;
  readonly text: string;
  readonly standing: Exclude<Standing, 'approved'>;
};

/** How custom tools are loaded. */
export type CustomToolOptions = {
  readonly folders: readonly Shelf[];
  readonly workspace: Workspace;
  /** What was approved of projects; a person's own files need no approval. */
  readonly trust: Trust;
  /** Asks the person whether a project's file may run; without it none that is not approved does. */
  readonly ask?: (file: CustomFile) => Promise<boolean>;
};

const folderName = 'custom_tools';
const largest = 256 * 1024;
const longestMs = 10_000;

/** Where custom tools lie: in the person's own folder, then in the project, nearest first. */
export function customToolFolders({ cwd, configDir, stopAt }: ProjectPlaces): readonly Shelf[] {
  const folders = projectFolders(cwd, stopAt);
  const inside = folders.at(-1) ?? cwd;
  return [
    { folder: path.join(configDir, folderName), scope: 'personal' },
    ...folders.flatMap((each) =>
      ['.fairlead', '.'].map((below): Shelf => ({
        folder: path.join(each, below, folderName),
        scope: 'project',
        inside,
      })),
    ),
  ];
}

/** Loads the tools of these folders, one after the other: questions come one at a time, and the first of a name wins. Each is named `custom__…` and hidden until it is loaded. */
export async function loadCustomTools(
  options: CustomToolOptions,
): Promise<{ readonly tools: readonly Tool[]; readonly problems: readonly Problem[] }> {
  const tools = new Map<string, Tool>();
  const problems: Problem[] = [];
  for (const shelf of options.folders)
    for (const { name } of entriesIn(shelf.folder, problems)) {
      if (!/^[^_].*\.m?[jt]s$/.test(name) || /\.(?:test|d)\.m?[jt]s$/.test(name)) continue;
      const file = path.join(shelf.folder, name);
      try {
        const tool = await loadFile(shelf, file, options);
        if (tools.has(tool.name)) throw refused(`there is another tool named ${tool.name}, which comes first`);
        tools.set(tool.name, tool);
      } catch (error) {
        problems.push({ path: file, why: messageOf(error) });
      }
    }
  return { tools: [...tools.values()], problems };
}

const refused = (why: string): FairleadError => new FairleadError('tool/custom-refused', why, { blame: 'user' });

async function loadFile(shelf: Shelf, file: string, options: CustomToolOptions): Promise<Tool> {
  const away = leadsOut(shelf, file);
  if (away) throw refused(away.why);
  const read = readText(file, largest);
  if ('wrong' in read) throw refused(read.why);
  if (read.cut) throw refused(`has ${read.size} bytes; a tool may have ${largest}`);
  if (shelf.scope === 'project') await mustBeApproved(file, read.text, options);
  return toolFrom(await exportOf(file, read.text), options.workspace);
}

async function mustBeApproved(file: string, text: string, { trust, ask }: CustomToolOptions): Promise<void> {
  const item = { subject: `custom tool ${file}`, hash: createHash('sha256').update(text).digest('hex') };
  const standing = trust.judge(item);
  if (standing === 'approved') return;
  if (!(await ask?.({ path: file, text, standing })))
    throw refused(
      standing === 'new' ? 'is not approved, so it was not run' : 'changed since it was approved, so it was not run',
    );
  trust.approve([item]);
}

/** What the text exports. It is run from memory: the file may have changed since it was judged, and other files next to it were judged by nobody. */
async function exportOf(file: string, text: string): Promise<unknown> {
  const code = /\.m?ts$/.test(file) ? withoutTypes(text) : text;
  const loading = import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`) as Promise<{
    readonly default?: unknown;
  }>;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(refused(`did not load within ${longestMs / 1000} s`)), longestMs);
  try {
    return (await Promise.race([loading, late])).default;
  } catch (error) {
    const isImport = isObject(error) && error['code'] === 'ERR_UNSUPPORTED_RESOLVE_REQUEST';
    throw isImport ? refused('imports something; a custom tool is one file and may import node:… only') : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Node warns that this is new. It is what runs our own sources, and a person has nothing to do about it. */
function withoutTypes(text: string): string {
  const emitWarning: unknown = Reflect.get(process, 'emitWarning');
  Object.assign(process, { emitWarning: () => {} });
  try {
    return stripTypeScriptTypes(text);
  } finally {
    Object.assign(process, { emitWarning });
  }
}

/** A class is made one of; what other harnesses call `schema` and `execute` is `input` and `run`. */
function definitionIn(exported: unknown): unknown {
  const made: unknown = typeof exported === 'function' ? Reflect.construct(exported, []) : exported;
  if (!isObject(made)) return made;
  return { ...made, input: made['input'] ?? made['schema'], run: made['run'] ?? made['execute'], self: made };
}

function toolFrom(exported: unknown, workspace: Workspace): Tool {
  const given = definitionIn(exported);
  if (!isObject(given)) throw refused('exports no object by default: give it name, description, input and run');
  const { run, name, input, self } = given as Partial<CustomTool> & { readonly self: unknown };
  if (typeof run !== 'function') throw refused('has no run function');
  if (typeof name !== 'string' || name === '') throw refused('has no name');
  if (input === undefined) throw refused('has no input schema');
  if (run.length > 2)
    throw refused('has a run function with more than two arguments: the whole input, and the context');
  return defineTool({
    ...(given as CustomTool),
    name: `custom__${name}`,
    hidden: true,
    run: (value, context) => run.call(self, value as never, { ...context, workspace }),
  });
}
