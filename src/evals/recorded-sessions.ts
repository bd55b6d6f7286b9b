// Recorded sessions, by name or by file, and the rules that are in use: what every measurement of rules begins with.
import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { isRuleFile, loadRuleFile, type RuleFile, type RuleFiles } from '../agent/index.ts';
import { FairleadError, errorMessage, type Event } from '../core/index.ts';
import { fileTrust } from '../guards/index.ts';
import type { CompiledRuleSet, RuleSet } from '../rules/index.ts';
import { openJsonl } from '../stores/index.ts';
import { noUser } from '../coding-agent/integrations/index.ts';
import { readProjectRuleFiles, compileRuleSets } from '../coding-agent/integrations/rules.ts';
import { getDefaultRules } from '../coding-agent/integrations/default-rules.ts';
import { findSession, listSessionFiles, type SessionFile } from '../sessions/index.ts';
import type { Settings } from '../coding-agent/settings/index.ts';

/** The sessions that are meant: names, files, folders of files; all there are unless some are named. */
export function findRecordedSessions(words: readonly string[], settings: Settings): readonly SessionFile[] {
  if (words.length === 0) return listSessionFiles(settings.dirs);
  return words.flatMap((word) => {
    const stat = statSync(word, { throwIfNoEntry: false });
    if (stat?.isFile()) return [{ name: path.basename(word), file: word }];
    if (!stat?.isDirectory()) return [findSession(settings.dirs, word)];
    const files = readdirSync(word).filter((name) => name.endsWith('.jsonl'));
    return files.toSorted().map((name) => ({ name, file: path.join(word, name) }));
  });
}

/** The events of a session on the way to where it stands, without taking it from whoever writes to it. */
export async function readRecordedEvents({ file }: SessionFile): Promise<readonly Event[]> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    const events: Event[] = [];
    for await (const batch of log.read()) for (const event of batch) events.push(event);
    return events;
  } finally {
    await log.close();
  }
}

/** The rule files of a folder, as a session there would have them; nobody is asked. */
export const readRuleFilesIn = (settings: Settings, cwd: string): Promise<RuleFiles> =>
  readProjectRuleFiles({
    paths: { cwd, home: homedir(), configDir: settings.dirs.config },
    trust: fileTrust(`${settings.dirs.state}/approved.json`),
    prompter: noUser(() => {}),
  });

/** The rules that a session in this folder would have. */
export async function loadActiveRuleSets(settings: Settings, cwd: string): Promise<readonly RuleSet[]> {
  const { files } = await readRuleFilesIn(settings, cwd);
  return [getDefaultRules(settings).set, ...files.map(({ set }) => set)];
}

/** The parts that a session in this folder would have from its rules. */
export async function loadActiveRuleParts(settings: Settings, cwd: string): Promise<readonly CompiledRuleSet[]> {
  const { files } = await readRuleFilesIn(settings, cwd);
  return compileRuleSets(
    settings,
    files.map(({ set }) => set),
  ).parts;
}

/** The rules of files and folders that the person named; what is wrong with one is an error. */
export async function loadNamedRuleSets(words: readonly string[]): Promise<readonly RuleFile[]> {
  const files = words.flatMap((word) => {
    const stat = statSync(word, { throwIfNoEntry: false });
    if (!stat) throw new FairleadError('rules/no-file', `There is no file ${word}.`, { blame: 'user' });
    if (!stat.isDirectory()) return [word];
    const names = readdirSync(word).filter(isRuleFile).toSorted();
    return names.map((name) => path.join(word, name));
  });
  return Promise.all(
    files.map((file) =>
      loadRuleFile(path.resolve(file)).catch((cause: unknown) => {
        throw new FairleadError('rules/bad-file', `${file}: ${errorMessage(cause)}`, { blame: 'user', cause });
      }),
    ),
  );
}

/** The rule that a note is from, by its key; of a check's note, the check. */
export function getRuleName(key: string): string {
  const [first = key, ...rest] = key.split('/');
  return first === 'check' ? rest.join('/') : first;
}
