// `policy declare`: shows the declarations of tools for the flow policy and where each comes from, corrects them, and stores corrections in the user's own file.
import { escapeInvisibleLine, FairleadError, formatColumns, type JsonObject } from '../../../core/index.ts';
import type { CollectedDeclaration, ToolDeclaration } from '../../../guards/flow/index.ts';
import { fileTrust } from '../../../guards/index.ts';
import {
  approveProjectDeclarations,
  listKnownTools,
  readProjectDeclarations,
  storeDeclaration,
} from '../../../coding-agent/flow/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { print } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';

const usage = `Usage: fairlead policy declare [tool] [--set <key>=<value>]... [--reset] [--json]
       fairlead policy declare --trust

Shows what each tool does for the flow policy, and where that comes from: built-in, written for a known MCP server, a file, or automatic.
--set corrects a declaration and stores it: effect=read|write|external|confirm, action=<name>, destructive=true|false, private=true|false,
output=trusted|untrusted, output.untrusted=<field>,<field>, inputs.<parameter>=<role>. --reset removes a correction.
--trust uses the file .fairlead/declarations.json of this project, with its present content.`;

/** Shows, corrects and stores declarations; exit code 0 done, 1 failed, 2 invalid arguments. */
export const declareCommand: (args: readonly string[]) => Promise<number> = withOptions(
  {
    usage,
    options: {
      set: { type: 'string', multiple: true, default: [] as string[] },
      reset: { type: 'boolean', default: false },
      trust: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    } as const,
    allowPositionals: true,
  },
  async (values, [tool, ...more]) => {
    if (more.length > 0) throw new TypeError(`Only one tool can be given; unexpected: ${more.join(' ')}.`);
    const settings = readSettings();
    const cwd = process.cwd();
    if (values.trust) return trustProject(settings.dirs.state, cwd);
    if (tool === undefined && (values.set.length > 0 || values.reset))
      throw new TypeError('--set and --reset need the name of a tool.');
    if (tool !== undefined && values.reset) {
      print(`Removed from ${storeDeclaration(settings.dirs, tool, undefined)}.\n`);
      return 0;
    }
    const { declarations, unknownServers, problems } = await listKnownTools(settings, cwd);
    const found = declarations.collected.filter((each) => tool === undefined || each.tool === tool);
    if (tool !== undefined && values.set.length > 0) {
      const next = applyChanges(found[0]?.declaration ?? { effect: 'external', inputs: {} }, values.set);
      const file = storeDeclaration(settings.dirs, tool, next);
      print(
        `${formatDeclarations([{ tool, origin: 'file', declaration: next as unknown as ToolDeclaration }])}Stored in ${file}.\n`,
      );
      return 0;
    }
    if (tool !== undefined && found.length === 0)
      throw new FairleadError('guards/no-tool', `No tool ${escapeInvisibleLine(tool)} is known here.`, {
        blame: 'user',
        hint: 'Without a declaration a tool is external, and each parameter decides. --set stores one.',
      });
    if (values.json) print(`${JSON.stringify(found, undefined, 2)}\n`);
    else {
      print(formatDeclarations(found));
      for (const each of problems) print(`${each}\n`);
      if (tool === undefined && unknownServers.length > 0)
        print(
          `Not known yet, because they were not started here: ${unknownServers.map(escapeInvisibleLine).join(', ')}.\n`,
        );
    }
    return 0;
  },
);

function trustProject(state: string, cwd: string): number {
  const trust = fileTrust(`${state}/approved.json`);
  const project = readProjectDeclarations(cwd, trust);
  if (!project)
    throw new FairleadError('guards/no-file', 'This project has no file .fairlead/declarations.json.', {
      blame: 'user',
    });
  approveProjectDeclarations(project, trust);
  print(`${project.file} is used from now on, until it changes.\n`);
  return 0;
}

const toggles: ReadonlySet<string> = new Set(['destructive', 'private']);

/** Applies `key=value` changes. What is not valid is refused when the result is parsed. */
function applyChanges(declaration: ToolDeclaration, changes: readonly string[]): JsonObject {
  let next = JSON.parse(JSON.stringify(declaration)) as Record<string, unknown>;
  delete next['trustsLabels'];
  for (const change of changes) {
    const [, key = '', value = ''] = /^([\w.-]+)=(.*)$/s.exec(change) ?? [];
    const [first = '', ...rest] = key.split('.');
    const name = rest.join('.');
    if (toggles.has(key) && (value === 'true' || value === 'false')) next = { ...next, [key]: value === 'true' };
    else if (['effect', 'action', 'output'].includes(key)) next = { ...next, [key]: value };
    else if (first === 'inputs' && name !== '')
      next = { ...next, inputs: { ...(next['inputs'] as object), [name]: value } };
    else if (key === 'output.untrusted') next = { ...next, output: { untrusted: value.split(',') } };
    else throw new TypeError(`--set ${change} is not valid.`);
  }
  return next as JsonObject;
}

function formatDeclarations(all: readonly CollectedDeclaration[]): string {
  const rows = all.map(({ tool, origin, declaration }) => {
    const { effect, destructive, private: isPrivate, action = '', inputs = {}, output = 'untrusted' } = declaration;
    const roles = Object.entries(inputs).map(([name, role]) => `${name}:${role}`);
    return [
      escapeInvisibleLine(tool),
      origin,
      `${effect}${destructive ? ', destructive' : ''}${isPrivate ? ', private' : ''}`,
      action,
      `returns ${typeof output === 'string' ? output : JSON.stringify(output)}`,
      escapeInvisibleLine(roles.join(' ')),
    ];
  });
  return formatColumns(rows);
}
