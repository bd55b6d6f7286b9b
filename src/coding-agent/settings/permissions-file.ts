// The file permissions.yaml in the config directory of the user: what was allowed for each project. A repository cannot write it, so it cannot grant itself anything.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError, isObject } from '../../core/index.ts';
import { isSameRule, type GrantRule, type KeptGrants } from '../../guards/index.ts';

/** The path of the file in a config directory. */
export const getPermissionsFile = (configDir: string): string => path.join(configDir, 'permissions.yaml');

const header = `# What you allowed with "in this project", by the real path of the project. Remove an entry to revoke it, or use
# "fairlead permissions revoke" or /permissions. Policies still deny and ask as before.
`;

/** The rules of all projects, by path. */
export type Permissions = ReadonlyMap<string, readonly GrantRule[]>;

/** Reads the permissions of all projects; none if there is no file. Throws if the file cannot be understood. */
export async function readPermissions(configDir: string): Promise<Permissions> {
  const file = getPermissionsFile(configDir);
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

/** Writes the permissions of all projects; only the user can read the file. */
export async function writePermissions(configDir: string, permissions: Permissions): Promise<void> {
  const file = getPermissionsFile(configDir);
  const projects = Object.fromEntries(
    [...permissions]
      .filter(([, rules]) => rules.length > 0)
      .map(([project, rules]) => [project, rules.map(formatEntry)]),
  );
  const { stringify } = await import('yaml');
  mkdirSync(configDir, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, `${header}${stringify({ projects })}`, { mode: 0o600 });
    chmodSync(temporary, 0o600);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw permissionsError(file, errorMessage(error));
  }
}

/** Creates the kept grants of a project, given by its real path at each use. A file that cannot be understood grants nothing. */
export function permissionsFile(
  configDir: string,
  project: () => string,
  onWarning: (text: string) => void = () => {},
): KeptGrants {
  const file = getPermissionsFile(configDir);
  let known: Permissions = new Map();
  let version: string | undefined = '';
  const readVersion = (): string | undefined => {
    const found = statSync(file, { throwIfNoEntry: false, bigint: true });
    return found && `${found.mtimeNs} ${found.ino} ${found.size}`;
  };
  const refresh = async (): Promise<void> => {
    const current = readVersion();
    if (current === version) return;
    version = current;
    try {
      known = await readPermissions(configDir);
    } catch (error) {
      known = new Map();
      onWarning(errorMessage(error));
    }
  };
  const change = async (edit: (rules: readonly GrantRule[]) => readonly GrantRule[]): Promise<void> => {
    // Read again: another process may have changed it. A file that cannot be understood is not overwritten.
    const all = new Map(await readPermissions(configDir));
    all.set(project(), edit(all.get(project()) ?? []));
    await writePermissions(configDir, all);
    known = all;
    version = readVersion();
  };
  return {
    list: () => known.get(project()) ?? [],
    add: (rule) => change((rules) => [...rules.filter((each) => !isSameRule(each, rule)), rule]),
    async remove(rule) {
      await refresh();
      if (!(known.get(project()) ?? []).some((each) => isSameRule(each, rule))) return false;
      await change((rules) => rules.filter((each) => !isSameRule(each, rule)));
      return true;
    },
    refresh,
  };
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

const permissionsError = (file: string, reason: string): FairleadError =>
  new FairleadError('settings/permissions', `${file} cannot be used: ${reason}`, {
    blame: 'user',
    hint: 'Correct or delete the file; until then it grants nothing.',
  });
