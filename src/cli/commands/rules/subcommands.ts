// The subcommands of `fairlead rules`; each returns its output and exit code.
import { escapeInvisibleLine, type Event, formatColumns } from '../../../core/index.ts';
import { runRuleSetExamples, type RuleSet } from '../../../rules/index.ts';
import { listAllReminders, getDefaultRules } from '../../../coding-agent/integrations/index.ts';
import { formatToolInput, type SessionFile } from '../../../sessions/index.ts';
import type { Settings } from '../../../coding-agent/settings/index.ts';
import {
  backtest,
  compileBacktestRules,
  type BacktestResult,
  measureRuleEffectiveness,
  followUpTurns,
  readRecordedEvents,
  readRuleFilesIn,
  findRecordedSessions,
  loadActiveRuleSets,
  loadNamedRuleSets,
} from '../../../evals/index.ts';

/** The output of a subcommand, and its exit code. */
export type RulesCommandResult = { readonly text: string; readonly code: number };

/** Lists the active rules with their origin, and the problems of rule files. */
export async function listRules(settings: Settings): Promise<RulesCommandResult> {
  const { files, problems } = await readRuleFilesIn(settings, process.cwd());
  const { set } = getDefaultRules(settings);
  const off = listAllReminders().filter(({ name }) => !set.reminders?.some((each) => each.name === name));
  const rows = [['fairlead', set] as const, ...files.map((file) => [file.path, file.set] as const)].flatMap(
    ([from, each]) => ruleRows(each).map((row) => [...row, from]),
  );
  const text = [
    formatColumns([['RULE', 'KIND', 'EXAMPLES', 'FROM'], ...rows]).trimEnd(),
    ...(off.length
      ? [`Off (fairlead config set reminders "usual ..."): ${off.map(({ name }) => name).join(', ')}`]
      : []),
    ...problems.map(({ path, why }) => `${path}: ${why}`),
  ].join('\n');
  return { text, code: problems.length ? 1 : 0 };
}

const ruleRows = (set: RuleSet): readonly (readonly string[])[] => [
  ...(set.reminders ?? []).map(({ name, examples = [] }) => [name, 'reminder', String(examples.length)]),
  ...(set.gates ?? []).map(({ name, examples }) => [name, 'gate', String(examples.length)]),
  ...(set.stops ?? []).map(({ name }) => [
    name,
    'stop',
    String((set.examples ?? []).filter(({ stop }) => stop === name).length),
  ]),
  ...(set.checks ?? []).map(({ name }) => [name, 'check', '0']),
  ...(set.renderers ?? []).map(({ as }, i) => [typeof as === 'string' ? as : `renderer ${i + 1}`, 'renderer', '0']),
];

/** Runs the examples of rules: of the named files, or of all active rules. */
export async function testRules(settings: Settings, paths: readonly string[]): Promise<RulesCommandResult> {
  const named = paths.length ? await loadNamedRuleSets(paths) : undefined;
  const found = named ? { files: named, problems: [] } : await readRuleFilesIn(settings, process.cwd());
  const sets = [...(named ? [] : [getDefaultRules(settings).set]), ...found.files.map(({ set }) => set)];
  const trials = (await Promise.all(sets.map(runRuleSetExamples))).flat();
  const failed = trials.filter(({ failure }) => failure !== undefined);
  const untested = sets.flatMap((set) =>
    ruleRows(set)
      .filter(([, kind, count]) => count === '0' && kind === 'gate')
      .map(([name]) => name),
  );
  const text = [
    ...trials.map(
      ({ rule, title, failure }) =>
        `${failure === undefined ? 'ok  ' : 'FAIL'} ${rule}: ${title}${failure === undefined ? '' : `. ${failure}`}`,
    ),
    ...found.problems.map(({ path, why }) => `FAIL ${path}: ${why}`),
    ...(untested.length ? [`These gates have no example: ${untested.join(', ')}`] : []),
    `${trials.length - failed.length} of ${trials.length} examples hold.`,
  ].join('\n');
  return { text: escapeLines(text), code: failed.length + found.problems.length ? 1 : 0 };
}

const escapeLines = (text: string): string => text.split('\n').map(escapeInvisibleLine).join('\n');

/** Shows what other rules would have done in recorded sessions, per call and in total. */
export async function backtestRules(
  settings: Settings,
  rules: string,
  sessionNames: readonly string[],
  json: boolean,
): Promise<RulesCommandResult> {
  const compiled = compileBacktestRules((await loadNamedRuleSets([rules])).map(({ set }) => set));
  const results: (BacktestResult & { readonly session: string })[] = [];
  for (const sessionFile of findRecordedSessions(sessionNames, settings))
    results.push({ session: sessionFile.name, ...(await backtest(compiled, await readRecordedEvents(sessionFile))) });
  if (json) return { text: JSON.stringify({ sum: sumBacktests(results), sessions: results }, undefined, 2), code: 0 };
  const lines = results.flatMap(({ session, ...each }) => backtestRows(each).map((line) => `${session}  ${line}`));
  const { sessions, turns, calls, denied, asked, rewritten, notes, tokens, halted } = sumBacktests(results);
  const sum = `${sessions} sessions, ${turns} turns, ${calls} calls: ${denied} denied, ${asked} asked, ${rewritten} rewritten, ${notes} notes of ${tokens} tokens, ${halted} runs stopped.`;
  return { text: escapeLines([...lines, sum].join('\n')), code: 0 };
}

const backtestRows = ({ objected, injected, halted }: BacktestResult): readonly string[] =>
  [
    ...objected.map(({ turn, decides, rule, tool, input, why }) => ({
      turn,
      line: `turn ${turn}  ${decides.padEnd(7)} ${rule}: ${tool} ${formatToolInput(input)}  (${why})`,
    })),
    ...injected.map(({ turn, rule, tokens, text }) => ({
      turn,
      line: `turn ${turn}  note    ${rule} (${tokens} tokens): ${text}`,
    })),
    ...halted.map(({ turn, rule, why }) => ({ turn, line: `turn ${turn}  end     ${rule}: ${why}` })),
  ]
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ line }) => line.replaceAll('\n', ' '));

type BacktestTotals = Readonly<
  Record<'sessions' | 'turns' | 'calls' | 'denied' | 'asked' | 'rewritten' | 'notes' | 'tokens' | 'halted', number>
>;

function sumBacktests(results: readonly BacktestResult[]): BacktestTotals {
  const total = (pick: (each: BacktestResult) => number): number => results.reduce((sum, each) => sum + pick(each), 0);
  const decided = (decision: string): number =>
    total(({ objected }) => objected.filter(({ decides }) => decides === decision).length);
  return {
    sessions: results.length,
    turns: total(({ turns }) => turns),
    calls: total(({ calls }) => calls),
    denied: decided('deny'),
    asked: decided('ask'),
    rewritten: decided('rewrite'),
    notes: total(({ injected }) => injected.length),
    tokens: total(({ injected }) => injected.reduce((sum, { tokens }) => sum + tokens, 0)),
    halted: total(({ halted }) => halted.length),
  };
}

/** Reports how often each rule triggered in recorded sessions, was followed, and was ignored. */
export async function reportRules(
  settings: Settings,
  sessionNames: readonly string[],
  json: boolean,
): Promise<RulesCommandResult> {
  const sessionFiles = findRecordedSessions(sessionNames, settings);
  const sets = await loadActiveRuleSets(settings, process.cwd());
  const measured = await measureRuleEffectiveness(sets, readSessionEvents(sessionFiles));
  const rules = [...measured].toSorted(([, a], [, b]) => b.fired - a.fired).map(([rule, each]) => ({ rule, ...each }));
  if (json) return { text: JSON.stringify({ sessions: sessionFiles.length, rules }, undefined, 2), code: 0 };
  if (rules.length === 0) return { text: `No rule triggered in ${sessionFiles.length} sessions.`, code: 0 };
  const rows = rules.map(({ rule, fired, obeyed, ignored }) => [rule, ...[fired, obeyed, ignored].map(String)]);
  const text = formatColumns([['RULE', 'TRIGGERED', 'FOLLOWED', 'IGNORED'], ...rows]);
  return {
    text: `${escapeLines(text.trimEnd())}\n${sessionFiles.length} sessions. A denial counts as followed if the same call was not denied again in its run; a reminder if its condition no longer held ${followUpTurns} turns later.`,
    code: 0,
  };
}

async function* readSessionEvents(sessionFiles: readonly SessionFile[]): AsyncGenerator<readonly Event[]> {
  for (const sessionFile of sessionFiles) yield readRecordedEvents(sessionFile);
}
