// Loads recorded sessions and the rule sets of a working directory, for back-tests and effectiveness reports.
import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { isRuleFile, loadRuleFile, type RuleFile, type RuleFiles } from '../agent/index.ts';
import { FairleadError, errorMessage, type Event } from '../core/index.ts';
import { fileTrust } from '../guards/index.ts';
import type { CompiledRuleSet, RuleSet } from '../rules/index.ts';
import { openJsonl } from '../stores/index.ts';
import { noUser, readProjectRuleFiles, compileRuleSets, getDefaultRules } from '../coding-agent/integrations/index.ts';
import { findSession, listSessionFiles, type SessionFile } from '../sessions/index.ts';
import type { Settings } from '../coding-agent/settings/index.ts';

/** Resolves session names, files and directories to session files; default all sessions. */
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

/** Reads the events on the current branch of a session without locking it. */
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

/** Loads the rule files of a directory as a session there would, without prompting the user. */
export const readRuleFilesIn = (settings: Settings, cwd: string): Promise<RuleFiles> =>
  readProjectRuleFiles({
    paths: { cwd, home: homedir(), configDir: settings.dirs.config },
    trust: fileTrust(`${settings.dirs.state}/approved.json`),
    prompter: noUser(() => {}),
  });

/** Returns the rule sets of a session in this directory. */
export async function loadActiveRuleSets(settings: Settings, cwd: string): Promise<readonly RuleSet[]> {
  const { files } = await readRuleFilesIn(settings, cwd);
  return [getDefaultRules(settings).set, ...files.map(({ set }) => set)];
}

/** Returns the compiled rules of a session in this directory. */
export async function loadActiveRuleParts(settings: Settings, cwd: string): Promise<readonly CompiledRuleSet[]> {
  const { files } = await readRuleFilesIn(settings, cwd);
  return compileRuleSets(
    settings,
    files.map(({ set }) => set),
  ).parts;
}

/** Loads the named rule files and directories; throws if one is invalid. */
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

/** Returns the rule or check that made a note, from the key of the note. */
export function getRuleName(key: string): string {
  const [first = key, ...rest] = key.split('/');
  return first === 'check' ? rest.join('/') : first;
}
