// Loads the hooks of a working folder. Hooks in the user's own file run at once; hooks of a project or of another program need approval of their exact content.
import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { canonicalJson, isObject, errorMessage, toJson, isPathInside, type Json } from '../../core/index.ts';
import { findFilesOfCommand, findRunnerFiles, uniqueFiles, type BoundFile } from '../bound-files.ts';
import type { TrustStore } from '../trust.ts';
import { parseHooks, type CompletesInTime, type Hook } from './hook.ts';
import { runsFolderPrograms } from './hook-programs.ts';
import type { HookFile } from './locations.ts';

/** Hooks that are not approved in their present form. */
export type UnapprovedHooks = { readonly path: string; readonly text: string; readonly changed: boolean };

/** Options of readHooks. */
export type ReadHooksOptions = {
  readonly files: readonly HookFile[];
  readonly cwd: string;
  readonly trust: TrustStore;
  /** Asks the user whether these hooks may run. Without it, unapproved hooks do not run. */
  readonly ask?: (hooks: UnapprovedHooks) => Promise<boolean>;
  /** True if no user can be asked. Hooks that are not approved then count as neither approved nor refused. */
  readonly nonInteractive?: boolean;
  /** True if the user lets the hooks of this project run outside the sandbox. Their approval then includes the files that task runners read. */
  readonly unconfined?: boolean;
  /** Runs the regular expression of a matcher with a time limit. Without it there is none. */
  readonly completesInTime?: CompletesInTime;
};

/** The loaded hooks. `failedFiles` lists files whose guards were active before and cannot be loaded now. */
export type LoadedHooks = {
  readonly hooks: readonly Hook[];
  readonly problems: readonly string[];
  readonly failedFiles: readonly { readonly path: string; readonly why: string }[];
};

const maxFileBytes = 1_000_000;

/** Reads the hooks of these files one after the other, so that approval questions appear one at a time. */
export async function readHooks(options: ReadHooksOptions): Promise<LoadedHooks> {
  const hooks: Hook[] = [];
  const problems: string[] = [];
  const failedFiles: { readonly path: string; readonly why: string }[] = [];
  for (const file of options.files) {
    try {
      const section = readHooksSection(file.path);
      if (section === undefined) continue;
      const found = parseHooks(section, file.path, options.completesInTime);
      problems.push(...found.problems.map((why) => `${file.path}: ${why}.`));
      if (found.hooks.length === 0) continue;
      const bound = file.isUserOwned ? found.hooks : await approveHooks(file.path, section, found.hooks, options);
      const isOfProject = isPathInside(options.cwd, file.path) && !file.isUserOwned;
      // What a sandboxed command may have written runs in the sandbox, even if the user named it.
      const isConfined = ({ command }: Hook): boolean =>
        options.unconfined !== true && (isOfProject || runsFolderPrograms(command, options.cwd));
      if (typeof bound !== 'string')
        hooks.push(...bound.map((hook) => (isConfined(hook) ? { ...hook, isConfined: true as const } : hook)));
      else {
        problems.push(`${file.path}: its hooks ${bound}, so they do not run.`);
        // These hooks were approved as guards. Changing a file must not remove its guards.
        if (bound === changedReason && options.nonInteractive)
          failedFiles.push({ path: file.path, why: `its hooks ${bound}` });
      }
    } catch (error) {
      const why = errorMessage(error);
      problems.push(`${file.path}: ${why}`);
      if (file.isUserOwned || wasApproved(file.path, options.trust)) failedFiles.push({ path: file.path, why });
    }
  }
  return { hooks, problems, failedFiles };
}

/** Returns the hooks section of a settings file; undefined if it has none. */
function readHooksSection(file: string): Json | undefined {
  const found = statSync(file);
  // Reading a pipe or a device might never end.
  if (!found.isFile()) throw new Error('it is not a file');
  const { size } = found;
  if (size > maxFileBytes) throw new Error(`it has ${size} bytes; hooks may have ${maxFileBytes}`);
  const data: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isObject(data)) throw new Error('it does not contain an object');
  if (data['disableAllHooks'] === true) return undefined;
  const { hooks, outsideSandbox: _, ...events } = data;
  if (hooks !== undefined) return toJson(hooks);
  return path.basename(file) === 'hooks.json' && Object.keys(events).length > 0 ? toJson(events) : undefined;
}

const hooksTrustSubject = (file: string): string => `hooks ${file}`;

function wasApproved(file: string, trust: TrustStore): boolean {
  try {
    return trust.check({ subject: hooksTrustSubject(file), hash: '' }) !== 'new';
  } catch {
    return false;
  }
}

const changedReason = 'changed since they were approved';

/** Returns the hooks, bound to the scripts they run, if they are approved; otherwise the reason why not. */
async function approveHooks(
  file: string,
  section: Json,
  hooks: readonly Hook[],
  { cwd, trust, ask, unconfined }: ReadHooksOptions,
): Promise<readonly Hook[] | string> {
  const bound = hooks.map((hook) => ({
    ...hook,
    scripts: [...findFilesOfCommand(hook.command, cwd), ...(unconfined ? findRunnerFiles(cwd) : [])],
  }));
  const scripts = uniqueFiles(bound.flatMap((each) => each.scripts));
  const content = [canonicalJson(section), ...scripts.map((each) => `${each.path} ${each.hash}`)].join('\n');
  const item = { subject: hooksTrustSubject(file), hash: hash('sha256', content) };
  const trustStatus = trust.check(item);
  if (trustStatus === 'approved') return bound;
  const existingScripts = scripts.filter((each) => each.hash !== '');
  const text = [JSON.stringify(section, undefined, 2), ...existingScripts.map(formatScript)].join('\n\n');
  if (await ask?.({ path: file, text, changed: trustStatus === 'changed' })) {
    trust.approve([item]);
    return bound;
  }
  return trustStatus === 'changed' ? changedReason : 'are not approved';
}

const formatScript = ({ path: file }: BoundFile): string => `${file}:\n${readFileSync(file, 'utf8')}`;
