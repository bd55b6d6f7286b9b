// Loads rule files, as code or data: the user's own, and a project's if the user approved their exact text.
import { hash } from 'node:crypto';
import path from 'node:path';
import { FairleadError, isObject, errorMessage, truncateMiddle, yamlBoundError, type Gate } from '../core/index.ts';
import type { RuleSet } from '../rules/index.ts';
import {
  readTrustedFile,
  FILE_CHANGED_CODE,
  importExports,
  fileRefusedError,
  type FileApprovalOptions,
} from './trusted-file.ts';
import type { FileProblem } from './project-files/paths.ts';
import { readDirEntries, resourceDirs, type ProjectLocation, type ResourceDir } from './project-files/search-dirs.ts';

/** A loaded rule file. */
export type RuleFile = {
  readonly path: string;
  readonly scope: ResourceDir['scope'];
  readonly set: RuleSet;
  /** The SHA-256 of its text. */
  readonly hash: string;
};

/** The rule files that were found. `unusable` are files that should apply and cannot be loaded: it is unknown which calls they would stop. */
export type RuleFiles = {
  readonly files: readonly RuleFile[];
  readonly problems: readonly FileProblem[];
  readonly unusable: readonly FileProblem[];
};

/** Whether a file of this name has rules. */
export const isRuleFile = (name: string): boolean =>
  /^[^_.].*\.(?:m?[jt]s|ya?ml|json)$/.test(name) && !/\.(?:test|d)\.m?[jt]s$/.test(name);

/** The directories of rules: the user's own, then those of the project, nearest first. */
export const ruleDirs = (location: ProjectLocation): readonly ResourceDir[] => resourceDirs(location, 'rules', []);

/** Loads the rules of these directories in order, so that the user is asked one question at a time. */
export async function loadRuleFiles(
  folders: readonly ResourceDir[],
  approval: FileApprovalOptions,
): Promise<RuleFiles> {
  const files: RuleFile[] = [];
  const problems: FileProblem[] = [];
  const unusable: FileProblem[] = [];
  for (const dir of folders) {
    const unreadable: FileProblem[] = [];
    const entries = readDirEntries(dir.folder, unreadable);
    problems.push(...unreadable);
    // The rules of the user always apply, so an unreadable directory of the user counts as unusable rules.
    if (dir.scope === 'personal') unusable.push(...unreadable);
    for (const { name } of entries) {
      if (!isRuleFile(name)) continue;
      const file = path.join(dir.folder, name);
      let text: string | undefined;
      try {
        text = await readTrustedFile(dir, file, 'rules', approval);
        files.push({ path: file, scope: dir.scope, set: await loadRuleSet(file, text), hash: hash('sha256', text) });
      } catch (error) {
        const problem = { path: file, why: errorMessage(error) };
        problems.push(problem);
        // A project's file that was never approved does not apply; any other file does.
        const wasUsed = approval.unattended && error instanceof FairleadError && error.code === FILE_CHANGED_CODE;
        const applies = text !== undefined || dir.scope === 'personal' || wasUsed === true;
        if (applies && !(await hasNoGates(file, text))) unusable.push(problem);
      }
    }
  }
  return { files, problems, unusable };
}

/** Loads a rule file that the user named. */
export async function loadRuleFile(file: string): Promise<RuleFile> {
  const dir: ResourceDir = { folder: path.dirname(file), scope: 'personal' };
  const text = await readTrustedFile(dir, file, 'rules', { trust: emptyTrust });
  return { path: file, scope: 'personal', set: await loadRuleSet(file, text), hash: hash('sha256', text) };
}

const emptyTrust: FileApprovalOptions['trust'] = {
  check: () => 'new',
  approve() {},
  revoke: () => false,
  list: () => [],
};

/** The rule set of a file's text. If any rule in it is invalid, the whole file is refused. */
async function loadRuleSet(file: string, text: string): Promise<RuleSet> {
  const rules = await import('../rules/index.ts');
  const rulesOfFile = isCodeFile(file)
    ? await resolveRuleExport((await importExports(file, text))['default'], { ...rules.deprecatedRuleNames, ...rules })
    : await parseRuleData(text);
  const isCompiled = isCodeFile(file) && isObject(rulesOfFile) && hasFunctions(rulesOfFile);
  const set = isCompiled ? (rulesOfFile as RuleSet) : rules.compileRules(rulesOfFile);
  const invalid = ruleSetError(set);
  if (invalid !== undefined) throw fileRefusedError(invalid);
  // A set that cannot be compiled fails here and not during a run.
  rules.compileRuleSet(set);
  return set;
}

const isCodeFile = (file: string): boolean => /\.m?[jt]s$/.test(file);

/** The parser compares each key of an object with all others. */
const maxRuleDataChars = 65_536;

async function parseRuleData(text: string): Promise<unknown> {
  if (text.length > maxRuleDataChars)
    throw fileRefusedError(`has ${text.length} characters; rules as data may have ${maxRuleDataChars}`);
  const exceeded = yamlBoundError(text);
  if (exceeded !== undefined) throw fileRefusedError(exceeded);
  const { parse } = await import('yaml');
  // JSON is a subset of YAML.
  return parse(text, { maxAliasCount: 0 }) as unknown;
}

/** The rules that a file exports: an object, or a function that creates one with our rule functions, which a file cannot import. */
async function resolveRuleExport(exported: unknown, rules: unknown): Promise<unknown> {
  const rulesOfFile: unknown =
    typeof exported === 'function' ? await (exported as (rules: unknown) => unknown)(rules) : exported;
  if (!isObject(rulesOfFile))
    throw fileRefusedError(
      'exports no rules by default: give an object, or a function that creates one with our rule functions',
    );
  return rulesOfFile;
}

/** Whether a value has functions: then it is a compiled rule set, otherwise rules as data. */
const hasFunctions = (value: unknown): boolean => {
  if (typeof value === 'function') return true;
  if (Array.isArray(value)) return value.some(hasFunctions);
  return isObject(value) && Object.values(value).some(hasFunctions);
};

const listFields = ['reminders', 'gates', 'stops', 'checks', 'renderers', 'views', 'examples'] as const;

function ruleSetError(set: RuleSet): string | undefined {
  if (typeof set.name !== 'string' || set.name === '') return 'has rules without a name';
  const invalidField = listFields.find((key) => set[key] !== undefined && !Array.isArray(set[key]));
  if (invalidField !== undefined) return `has ${invalidField} that is not a list`;
  const badGate = (set.gates ?? []).find(
    (gate) => !isObject(gate) || !Array.isArray(gate.gates) || !Array.isArray(gate.views),
  );
  if (badGate) return 'has a gate that no rule function created: use defineGate, confirm or another';
  const badStop = (set.stops ?? []).find((stop) => !isObject(stop) || !Array.isArray(stop.stops));
  return badStop ? 'has a stop that no rule function created: use stopWhen or another' : undefined;
}

/** Whether a file that cannot be used is known to have no gates. */
async function hasNoGates(file: string, text: string | undefined): Promise<boolean> {
  if (isCodeFile(file) || text === undefined) return false;
  try {
    const data = await parseRuleData(text);
    return isObject(data) && data['gates'] === undefined;
  } catch {
    return false;
  }
}

/** A gate in place of rules that cannot be loaded: it asks the user about every call. */
export const askWhenRulesMissing =
  (unusable: readonly FileProblem[]): Gate =>
  ({ tool, input }) => ({
    type: 'ask',
    question: `${unusable.map(({ path: file, why }) => `${file} cannot be used (${why})`).join('; ')}, so it is not known whether it would stop this call. Run ${tool} with ${truncateMiddle(JSON.stringify(input), 400)}?`,
  });
