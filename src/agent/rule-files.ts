// Rules that people keep in files, in TypeScript or as data: a person's own, and a project's after a yes to their very text.
import path from 'node:path';
import { FairleadError, isObject, errorMessage, truncateMiddle, type Gate } from '../core/index.ts';
import type { RuleSet } from '../rules/index.ts';
import {
  readTrustedFile,
  FILE_CHANGED_CODE,
  importDefaultExport,
  fileRefusedError,
  type FileApprovalOptions,
} from './trusted-file.ts';
import { projectDirs, type FileProblem } from './project-files/paths.ts';
import { readDirEntries, type ProjectLocation, type ResourceDir } from './project-files/search-dirs.ts';

/** A file of rules, loaded. */
export type RuleFile = { readonly path: string; readonly scope: ResourceDir['scope']; readonly set: RuleSet };

/** What was found. `lost` are files that were to be used and cannot be: what they would have stopped is not known. */
export type RuleFiles = {
  readonly files: readonly RuleFile[];
  readonly problems: readonly FileProblem[];
  readonly unusable: readonly FileProblem[];
};

/** Whether a file of this name holds rules. */
export const isRuleFile = (name: string): boolean =>
  /^[^_.].*\.(?:m?[jt]s|ya?ml|json)$/.test(name) && !/\.(?:test|d)\.m?[jt]s$/.test(name);

/** Where rules lie: in the person's own folder, then in the project, nearest first. */
export function ruleDirs({ cwd, configDir, stopAt }: ProjectLocation): readonly ResourceDir[] {
  const folders = projectDirs(cwd, stopAt);
  const inside = folders.at(-1) ?? cwd;
  return [
    { folder: path.join(configDir, 'rules'), scope: 'personal' },
    ...folders.map((each): ResourceDir => ({ folder: path.join(each, '.fairlead/rules'), scope: 'project', inside })),
  ];
}

/** Loads the rules of these folders, one after the other: questions come one at a time. */
export async function loadRuleFiles(
  folders: readonly ResourceDir[],
  approving: FileApprovalOptions,
): Promise<RuleFiles> {
  const files: RuleFile[] = [];
  const problems: FileProblem[] = [];
  const lost: FileProblem[] = [];
  for (const shelf of folders) {
    const unread: FileProblem[] = [];
    const entries = readDirEntries(shelf.folder, unread);
    problems.push(...unread);
    // What a folder of the person's own holds is to be used, whoever may read it.
    if (shelf.scope === 'personal') lost.push(...unread);
    for (const { name } of entries) {
      if (!isRuleFile(name)) continue;
      const file = path.join(shelf.folder, name);
      let text: string | undefined;
      try {
        text = await readTrustedFile(shelf, file, 'rules', approving);
        files.push({ path: file, scope: shelf.scope, set: await loadRuleSet(file, text) });
      } catch (error) {
        const problem = { path: file, why: errorMessage(error) };
        problems.push(problem);
        // A project's file that never had a yes was never to be used; anything else was.
        const wasUsed = approving.unattended && error instanceof FairleadError && error.code === FILE_CHANGED_CODE;
        const isWanted = text !== undefined || shelf.scope === 'personal' || wasUsed === true;
        if (isWanted && !(await hasNoGates(file, text))) lost.push(problem);
      }
    }
  }
  return { files, problems, unusable: lost };
}

/** The rules of one file, which the person named. */
export async function loadRuleFile(file: string): Promise<RuleFile> {
  const shelf: ResourceDir = { folder: path.dirname(file), scope: 'personal' };
  const text = await readTrustedFile(shelf, file, 'rules', { trust: emptyTrust });
  return { path: file, scope: 'personal', set: await loadRuleSet(file, text) };
}

const emptyTrust: FileApprovalOptions['trust'] = {
  check: () => 'new',
  approve() {},
  revoke: () => false,
  list: () => [],
};

/** The rule set of a file's text. Every rule in it is tried for what it is: a set that is half understood is none. */
async function loadRuleSet(file: string, text: string): Promise<RuleSet> {
  const rules = await import('../rules/index.ts');
  const made = isCodeFile(file)
    ? await resolveRuleExport(await importDefaultExport(file, text), { ...rules.deprecatedRuleNames, ...rules })
    : await parseRuleData(text);
  const set = isCodeFile(file) && isObject(made) && hasFunctions(made) ? (made as RuleSet) : rules.compileRules(made);
  const wrong = ruleSetError(set);
  if (wrong !== undefined) throw fileRefusedError(wrong);
  // What cannot become parts of an agent says so here, and not in the middle of a run.
  rules.compileRuleSet(set);
  return set;
}

const isCodeFile = (file: string): boolean => /\.m?[jt]s$/.test(file);

async function parseRuleData(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  // JSON is YAML too.
  return parse(text, { maxAliasCount: 0 }) as unknown;
}

/** What a file exports: the rules themselves, or a function that makes them with our makers, since it can import none. */
async function resolveRuleExport(exported: unknown, rules: unknown): Promise<unknown> {
  const made: unknown =
    typeof exported === 'function' ? await (exported as (kit: unknown) => unknown)(rules) : exported;
  if (!isObject(made))
    throw fileRefusedError('exports no rules by default: give an object, or a function that makes one from our makers');
  return made;
}

/** Whether something in it is code: then it is a rule set as it is, and otherwise rules as data. */
const hasFunctions = (value: unknown): boolean => {
  if (typeof value === 'function') return true;
  if (Array.isArray(value)) return value.some(hasFunctions);
  return isObject(value) && Object.values(value).some(hasFunctions);
};

const listFields = ['reminders', 'gates', 'stops', 'checks', 'renderers', 'views', 'examples'] as const;

function ruleSetError(set: RuleSet): string | undefined {
  if (typeof set.name !== 'string' || set.name === '') return 'has rules without a name';
  const wrong = listFields.find((key) => set[key] !== undefined && !Array.isArray(set[key]));
  if (wrong !== undefined) return `has ${wrong} that are no list`;
  const loose = (set.gates ?? []).find(
    (gate) => !isObject(gate) || !Array.isArray(gate.gates) || !Array.isArray(gate.views),
  );
  if (loose) return 'has a gate that no maker made: use defineGate, confirm and the others';
  const vague = (set.stops ?? []).find((stop) => !isObject(stop) || !Array.isArray(stop.stops));
  return vague ? 'has a stop that no maker made: use stopWhen and the others' : undefined;
}

/** Whether a file that cannot be used at least says clearly that it stops nothing. */
async function hasNoGates(file: string, text: string | undefined): Promise<boolean> {
  if (isCodeFile(file) || text === undefined) return false;
  try {
    const data = await parseRuleData(text);
    return isObject(data) && data['gates'] === undefined;
  } catch {
    return false;
  }
}

/** Stands in for guards that cannot be loaded: every call they might have stopped is put to a person. */
export const askWhenRulesMissing =
  (lost: readonly FileProblem[]): Gate =>
  ({ tool, input }) => ({
    type: 'ask',
    question: `${lost.map(({ path: file, why }) => `${file} cannot be used (${why})`).join('; ')}, so it is not known whether it would stop this call. Run ${tool} with ${truncateMiddle(JSON.stringify(input), 400)}?`,
  });
