// Changes permissions.yaml: one change at a time, within a process and between processes, so that none is lost.
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { errorMessage, FairleadError } from '../../core/index.ts';
import type { GrantRule } from '../../guards/index.ts';
import { withFileLock } from '../../stores/index.ts';
import { getPermissionsFile, permissionsError, readPermissions, type Permissions } from './permissions-file.ts';

const header = `# What you allowed with "in this project", by the real path of the project. Remove an entry to revoke it, or use
# "fairlead permissions revoke" or /permissions. Policies still deny and ask as before.
`;

/** Reads the permissions of all projects, edits and writes them while holding the lock of the file. A file that cannot be understood is not overwritten. */
export async function editPermissionsFile(
  configDir: string,
  edit: (permissions: Map<string, readonly GrantRule[]>) => unknown,
): Promise<Permissions> {
  const file = getPermissionsFile(configDir);
  try {
    mkdirSync(configDir, { recursive: true, mode: 0o700 });
    return await withFileLock(file, async () => {
      const all = new Map(await readPermissions(configDir));
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
