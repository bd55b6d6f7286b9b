// Reads and changes permissions.yaml: one change at a time, within a process and between processes, so that none is lost.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError, isObject } from '../../core/index.ts';
import type { GrantRule } from '../../guards/index.ts';
import { withFileLock } from '../../stores/index.ts';
import type { Permissions } from './permissions-file.ts';

const header = `# What you allowed with "in this project", by the real path of the project. Remove an entry to revoke it, or use
# "fairlead permissions revoke" or /permissions. Policies still deny and ask as before.
`;

/** Reads the permissions of all projects; none if there is no file. Throws if the file cannot be understood. */
export async function readPermissionsFile(file: string): Promise<Permissions> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw permissionsError(file, errorMessage(error));
  }
  const { parse } = await import('yaml');
  let data: unknown;
  try {
    data = parse(text);
  } catch (error) {
    throw permissionsError(file, errorMessage(error));
  }
  const { projects } = isObject(data) ? data : {};
  if (data !== null && projects !== undefined && !isObject(projects))
    throw permissionsError(file, '"projects" must be a map.');
  return new Map(
    Object.entries(isObject(projects) ? projects : {}).map(([project, entries]) => {
      if (!Array.isArray(entries)) throw permissionsError(file, `the entries of ${project} must be a list.`);
      return [project, entries.map((entry) => parseEntry(entry, file))];
    }),
  );
}

/** Reads the permissions of all projects, edits and writes them while holding the lock of the file. A file that cannot be understood is not overwritten. */
export async function editPermissionsFile(
  file: string,
  edit: (permissions: Map<string, readonly GrantRule[]>) => unknown,
): Promise<Permissions> {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    return await withFileLock(file, async () => {
      const all = new Map(await readPermissionsFile(file));
      edit(all);
      await writePermissions(file, all);
      return all;
    });
  } catch (error) {
    if (error instanceof FairleadError) throw error;
    throw permissionsError(file, errorMessage(error));
  }
}

/** Writes the permissions of all projects; only the user can read the file. */
async function writePermissions(file: string, permissions: Permissions): Promise<void> {
  const projects = Object.fromEntries(
    [...permissions]
      .filter(([, rules]) => rules.length > 0)
      .map(([project, rules]) => [project, rules.map(formatEntry)]),
  );
  const { stringify } = await import('yaml');
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, `${header}${stringify({ projects })}`, { mode: 0o600 });
    chmodSync(temporary, 0o600);
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function formatEntry(rule: GrantRule): Readonly<Record<string, unknown>> {
  if (rule.type === 'edits') return { edits: true };
  if (rule.type === 'tool') return { tool: rule.tool };
  if (rule.type === 'call') return { exactly: rule.key };
  return { command: [...rule.words], tool: rule.tool };
}

function parseEntry(entry: unknown, file: string): GrantRule {
  const { edits, tool, exactly, command } = isObject(entry) ? entry : {};
  if (edits === true) return { type: 'edits' };
  if (typeof exactly === 'string') return { type: 'call', key: exactly };
  if (
    Array.isArray(command) &&
    typeof tool === 'string' &&
    command.length > 0 &&
    command.every((word) => typeof word === 'string')
  )
    return { type: 'command', tool, words: command };
  if (typeof tool === 'string' && command === undefined) return { type: 'tool', tool };
  throw permissionsError(file, `an entry must have "edits", "exactly", "tool" or "command": ${JSON.stringify(entry)}`);
}

/** The error of a file that cannot be read, understood or written. */
const permissionsError = (file: string, reason: string): FairleadError =>
  new FairleadError('settings/permissions', `${file} cannot be used: ${reason}`, {
    blame: 'user',
    hint: 'Correct or delete the file; until then it grants nothing.',
  });
