// What the `rules` command says, verb by verb, as text and exit code.
import { escapeInvisibleLine, type Event } from '../../../core/index.ts';
import { runRuleSetExamples, type RuleSet } from '../../../rules/index.ts';
import { listAllReminders, getDefaultRules } from '../../../coding-agent/integrations/default-rules.ts';
import { formatToolInput } from '../../../sessions/index.ts';
import type { SessionFile } from '../../../sessions/index.ts';
import { formatColumns } from '../../../core/format-columns.ts';
import type { Settings } from '../../../coding-agent/settings/index.ts';
import { backtest, compileBacktestRules, type BacktestResult } from '../../../evals/backtest.ts';
import { measureRuleEffectiveness, followUpTurns } from '../../../evals/rule-effectiveness.ts';
import {
  readRecordedEvents,
  readRuleFilesIn,
  findRecordedSessions,
  loadActiveRuleSets,
  loadNamedRuleSets,
} from '../../../evals/recorded-sessions.ts';

/** Words to print, and the exit code that goes with them. */
export type RulesCommandResult = { readonly text: string; readonly code: number };

/** The rules in use here, where each is from, and what was passed over. */
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

/** Tries the examples that rules carry: those of the files named, or of all rules in use. */
export async function testRules(settings: Settings, words: readonly string[]): Promise<RulesCommandResult> {
  const named = words.length ? await loadNamedRuleSets(words) : undefined;
  const found = named ? { files: named, problems: [] } : await readRuleFilesIn(settings, process.cwd());
  const sets = [...(named ? [] : [getDefaultRules(settings).set]), ...found.files.map(({ set }) => set)];
  const trials = (await Promise.all(sets.map(runRuleSetExamples))).flat();
  const failed = trials.filter(({ failure }) => failure !== undefined);
  const bare = sets.flatMap((set) =>
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
    ...(bare.length ? [`Nothing proves these gates, which carry no example: ${bare.join(', ')}`] : []),
    `${trials.length - failed.length} of ${trials.length} examples hold.`,
  ].join('\n');
  return { text: escapeLines(text), code: failed.length + found.problems.length ? 1 : 0 };
}

const escapeLines = (text: string): string => text.split('\n').map(escapeInvisibleLine).join('\n');

/** What other rules would have done in recorded sessions, call by call and in sum. */
export async function backtestRules(
  settings: Settings,
  rules: string,
  words: readonly string[],
  json: boolean,
): Promise<RulesCommandResult> {
  const bench = compileBacktestRules((await loadNamedRuleSets([rules])).map(({ set }) => set));
  const all: (BacktestResult & { readonly session: string })[] = [];
  for (const place of findRecordedSessions(words, settings))
    all.push({ session: place.name, ...(await backtest(bench, await readRecordedEvents(place))) });
  if (json) return { text: JSON.stringify({ sum: sumBacktests(all), sessions: all }, undefined, 2), code: 0 };
  const lines = all.flatMap(({ session, ...each }) => backtestRows(each).map((line) => `${session}  ${line}`));
  const { sessions, turns, calls, denied, asked, rewritten, notes, tokens, halted } = sumBacktests(all);
  const sum = `${sessions} sessions, ${turns} turns, ${calls} calls: ${denied} refused, ${asked} asked, ${rewritten} rewritten, ${notes} notes of ${tokens} tokens, ${halted} runs ended.`;
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

function sumBacktests(all: readonly BacktestResult[]): BacktestTotals {
  const total = (pick: (each: BacktestResult) => number): number => all.reduce((sum, each) => sum + pick(each), 0);
  const decided = (what: string): number =>
    total(({ objected }) => objected.filter(({ decides }) => decides === what).length);
  return {
    sessions: all.length,
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

/** How often each rule spoke up in recorded sessions, was obeyed, and was ignored. */
export async function reportRules(
  settings: Settings,
  words: readonly string[],
  json: boolean,
): Promise<RulesCommandResult> {
  const places = findRecordedSessions(words, settings);
  const sets = await loadActiveRuleSets(settings, process.cwd());
  const found = await measureRuleEffectiveness(sets, readSessionEvents(places));
  const rules = [...found].toSorted(([, a], [, b]) => b.fired - a.fired).map(([rule, each]) => ({ rule, ...each }));
  if (json) return { text: JSON.stringify({ sessions: places.length, rules }, undefined, 2), code: 0 };
  if (rules.length === 0) return { text: `No rule spoke up in ${places.length} sessions.`, code: 0 };
  const rows = rules.map(({ rule, fired, obeyed, ignored }) => [rule, ...[fired, obeyed, ignored].map(String)]);
  const text = formatColumns([['RULE', 'FIRED', 'OBEYED', 'IGNORED'], ...rows]);
  return {
    text: `${escapeLines(text.trimEnd())}\n${places.length} sessions. A refusal is obeyed where the same call was not refused again in its run; a reminder where its condition no longer held ${followUpTurns} turns later.`,
    code: 0,
  };
}

async function* readSessionEvents(places: readonly SessionFile[]): AsyncGenerator<readonly Event[]> {
  for (const place of places) yield readRecordedEvents(place);
}
