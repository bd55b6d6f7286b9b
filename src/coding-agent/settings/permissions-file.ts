// The file permissions.yaml in the config directory of the user: what was allowed for each project. A repository cannot write it, so it cannot grant itself anything.
import { statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import { isSameRule, type GrantRule, type KeptGrants } from '../../guards/index.ts';

/** The path of the file in a config directory. */
export const getPermissionsFile = (configDir: string): string => path.join(configDir, 'permissions.yaml');

/** The rules of all projects, by path. */
export type Permissions = ReadonlyMap<string, readonly GrantRule[]>;

/** Reads the permissions of all projects; none if there is no file. Throws if the file cannot be understood. */
export const readPermissions = async (configDir: string): Promise<Permissions> =>
  (await import('./permissions-yaml.ts')).readPermissionsFile(getPermissionsFile(configDir));

/** Edits the permissions of all projects while no other process changes them, and returns them. Throws if the file cannot be used. */
export const changePermissions = async (
  configDir: string,
  edit: (permissions: Map<string, readonly GrantRule[]>) => unknown,
): Promise<Permissions> =>
  (await import('./permissions-yaml.ts')).editPermissionsFile(getPermissionsFile(configDir), edit);

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
      known = current === undefined ? new Map() : await readPermissions(configDir);
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
