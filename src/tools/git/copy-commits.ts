// Copies commits from the workspace into a private repository: git inside the sandbox writes a pack, git outside verifies it.
import type { ConfinedGit } from './confined-git.ts';
import {
  createPrivateRepository,
  objectName,
  readObjectNames,
  transferError,
  type PrivateRepository,
} from './private-repository.ts';
import type { GitRunOptions } from './safe-git.ts';

/** Returns the commits that exist in the workspace. */
export async function findKnownCommits({ read }: ConfinedGit, names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const found = await read(['rev-list', '--no-walk=unsorted', '--ignore-missing', ...names, '--']);
  const commits =
    found ??
    (await Promise.all(names.map((name) => read(['rev-parse', '--verify', '--quiet', `${name}^{commit}`])))).join('\n');
  return [...new Set(commits.split('\n').filter((line) => objectName.test(line)))];
}

/** Copies the commits of these references without their history: the server then sends what is newer. */
export async function copyCommits(
  repository: PrivateRepository,
  git: ConfinedGit,
  references: Readonly<Record<string, string>>,
): Promise<void> {
  const commits = Object.values(references);
  if (commits.length === 0) return;
  const script = `set -e
"$@" rev-list --objects --no-walk=unsorted ${commits.join(' ')} >"$0/objects"
"$@" pack-objects --quiet --stdout <"$0/objects" >"$0/seed.pack"`;
  await runScript(repository, git, script);
  await repository.importPack(commits, references);
}

/** Copies the commits after the bases, and the commits before them without their history. */
export async function copyBranch(
  repository: PrivateRepository,
  git: ConfinedGit,
  { tip, reference, bases }: { readonly tip: string; readonly reference: string; readonly bases: readonly string[] },
): Promise<void> {
  const range = [tip, ...(bases.length > 0 ? ['--not', ...bases] : [])].join(' ');
  const script = `set -e
"$@" rev-list --boundary ${range} >"$0/commits"
sed -n 's/^-//p' "$0/commits" >"$0/shallow"
"$@" rev-list --objects ${range} >"$0/objects"
if [ -s "$0/shallow" ]; then "$@" rev-list --objects --no-walk=unsorted --stdin <"$0/shallow" >>"$0/objects"; fi
cut="$("$@" rev-parse --git-path shallow)"
if [ -s "$cut" ]; then grep -Fxf "$cut" "$0/commits" >>"$0/shallow" || true; fi
"$@" pack-objects --quiet --stdout <"$0/objects" >"$0/seed.pack"`;
  await runScript(repository, git, script);
  await repository.importPack(await readObjectNames(`${repository.exchange}/shallow`), { [reference]: tip });
}

async function runScript({ exchange }: PrivateRepository, git: ConfinedGit, script: string): Promise<void> {
  const result = await git.script(script, exchange);
  if (result.code !== 0) throw transferError(result);
}

/** Returns the kind of object names in this repository. */
export const objectFormat = async ({ read }: ConfinedGit): Promise<'sha1' | 'sha256'> =>
  (await read(['rev-parse', '--show-object-format']))?.trim() === 'sha256' ? 'sha256' : 'sha1';

/** Runs an operation with a new private repository, which is deleted afterwards. */
export async function withPrivateRepository<T>(
  parent: string,
  run: GitRunOptions,
  operation: (repository: PrivateRepository) => Promise<T>,
  format?: 'sha1' | 'sha256',
): Promise<T> {
  const repository = await createPrivateRepository(parent, run, format);
  try {
    return await operation(repository);
  } finally {
    await repository.remove();
  }
}
