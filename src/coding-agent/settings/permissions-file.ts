// The file permissions.yaml in the config directory of the user: what was allowed for each project. A repository cannot write it, so it cannot grant itself anything.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError, isObject } from '../../core/index.ts';
import { isSameRule, type GrantRule, type KeptGrants } from '../../guards/index.ts';

/** The path of the file in a config directory. */
export const getPermissionsFile = (configDir: string): string => path.join(configDir, 'permissions.yaml');

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

/** Edits the permissions of all projects while no other process changes them, and returns them. Throws if the file cannot be used. */
export const changePermissions = async (
  configDir: string,
  edit: (permissions: Map<string, readonly GrantRule[]>) => unknown,
): Promise<Permissions> => (await import('./change-permissions.ts')).editPermissionsFile(configDir, edit);

/** Creates the kept grants of a project, given by its real path at each use. A file that cannot be understood grants nothing. */
export function permissionsFile(
  configDir: string,
  project: () => string,
  onWarning: (text: string) => void = () => {},
): KeptGrants {
  const file = getPermissionsFile(configDir);
  let known: Permissions = new Map();
  let version: string | undefined = '';
  let isUsable = true;
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
      isUsable = true;
    } catch (error) {
      known = new Map();
      isUsable = false;
      onWarning(errorMessage(error));
    }
  };
  const change = async (edit: (rules: readonly GrantRule[]) => readonly GrantRule[]): Promise<void> => {
    try {
      known = await changePermissions(configDir, (all) => all.set(project(), edit(all.get(project()) ?? [])));
      version = readVersion();
    } catch (error) {
      isUsable = false;
      throw error;
    }
  };
  return {
    list: () => known.get(project()) ?? [],
    async add(rule) {
      try {
        await change((rules) => [...rules.filter((each) => !isSameRule(each, rule)), rule]);
      } catch (error) {
        onWarning(`Allowed in this session only, because it cannot be kept: ${errorMessage(error)}`);
        throw error;
      }
    },
    async remove(rule) {
      await refresh();
      if (!(known.get(project()) ?? []).some((each) => isSameRule(each, rule))) return false;
      await change((rules) => rules.filter((each) => !isSameRule(each, rule)));
      return true;
    },
    refresh,
    isUsable: () => isUsable,
  };
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
export const permissionsError = (file: string, reason: string): FairleadError =>
  new FairleadError('settings/permissions', `${file} cannot be used: ${reason}`, {
    blame: 'user',
    hint: 'Correct or delete the file; until then it grants nothing.',
  });
