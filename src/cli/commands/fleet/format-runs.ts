// Formats queued runs as text: one line for lists, all fields for details.
import {
  escapeInvisible,
  escapeInvisibleLine,
  formatColumns,
  type FleetRun,
  type RunSettlement,
} from '../../../core/index.ts';
import { isResting, shortenRunId } from '../../../fleet/index.ts';
import { exitCodeForRun } from '../../args/exit-codes.ts';

const maxPromptChars = 70;

const truncatePrompt = (text: string): string => {
  const line = escapeInvisibleLine(text.trim().split('\n')[0] ?? '');
  return line.length > maxPromptChars ? `${line.slice(0, maxPromptChars)}...` : line;
};

/** Formats runs as a table with aligned columns; ids that the store made are short unless two runs have the same start. */
export function formatRunTable(runs: readonly FleetRun[]): string {
  const counts = Map.groupBy(runs, ({ id }) => shortenRunId(id));
  const rows = runs.map((run) => [
    escapeInvisibleLine(counts.get(shortenRunId(run.id))?.length === 1 ? shortenRunId(run.id) : run.id),
    isResting(run) ? formatRest(run.notBefore) : run.status,
    run.outcome?.reason ?? '',
    run.queued.slice(0, 16).replace('T', ' '),
    truncatePrompt(run.prompt),
  ]);
  return formatColumns([['run', 'status', 'result', 'queued', 'task'], ...rows]);
}

/** Formats the rest of a run: `rests until 12:40: rate limited`, in UTC like the other times. */
function formatRest(notBefore = ''): string {
  const isToday = notBefore.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return `rests until ${notBefore.slice(isToday ? 11 : 0, 16).replace('T', ' ')}: rate limited`;
}

/** Formats the outcome of a run as one line. */
export function formatRunOutcome({ id, outcome }: Pick<FleetRun, 'id' | 'outcome'>): string {
  if (!outcome) return `${id}  ended`;
  return `${id}  ${outcome.reason}  ${truncatePrompt(getOutcomeText(outcome))}`;
}

/** Whether the line of an outcome has only a part of its text. */
export const isOutcomeCut = (outcome: FleetRun['outcome']): boolean =>
  outcome !== undefined &&
  truncatePrompt(getOutcomeText(outcome)) !== escapeInvisibleLine(getOutcomeText(outcome).trim());

const getOutcomeText = ({ reason, text, detail }: NonNullable<FleetRun['outcome']>): string =>
  reason === 'answered' || reason === 'task-complete' ? text : (detail ?? text);

/** Formats the pending approvals of a run, and how to answer them. */
export const formatRunQuestions = ({ id, pendingApprovals }: Pick<FleetRun, 'id' | 'pendingApprovals'>): string =>
  pendingApprovals
    .map(({ call, question, kind }) => {
      const which = pendingApprovals.length > 1 ? ` --call ${call}` : '';
      const answers = kind === 'unknown-outcome' ? 'happened (or yes: run it again; or no: unknown)' : 'yes (or no)';
      return `${id}  asks: ${escapeInvisible(question)}\n  To answer: fairlead runs answer ${id}${which} ${answers}`;
    })
    .join('\n');

/** Formats all fields of a run. */
export function formatRunDetails(run: FleetRun): string {
  const { outcome } = run;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['run', run.id],
    ['prompt', run.prompt],
    ['status', isResting(run) ? `${run.status}, ${formatRest(run.notBefore)}` : run.status],
    ['session', run.session],
    ['tenant', run.tenant],
    ['kind', run.kind],
    ['priority', run.priority === 0 ? undefined : String(run.priority)],
    ['settings', Object.keys(run.settings).length > 0 ? JSON.stringify(run.settings) : undefined],
    ['queued', run.queued],
    ['not before', run.notBefore],
    ['started', run.started],
    ['ended', run.ended],
    ['attempts', String(run.attempts)],
    ['worker', run.worker],
    ['parent', run.parent],
    ['reason', outcome?.reason],
    ['detail', outcome?.detail],
    [
      'spent',
      outcome &&
        `${outcome.spent.turns === 1 ? '1 turn' : `${outcome.spent.turns} turns`}, ${outcome.spent.input + outcome.spent.output} tokens, $${outcome.spent.usd.toFixed(4)}`,
    ],
  ];
  const table = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name.padEnd(11)}${escapeInvisible(value)}`],
  );
  return [...table, formatRunQuestions(run), outcome?.text ? `\n${escapeInvisible(outcome.text)}` : '']
    .filter(Boolean)
    .join('\n');
}

/** Formats a settlement as one line; undefined if the run was only released, and does not rest. */
export function formatSettlement(run: FleetRun, settlement: RunSettlement): string | undefined {
  if (settlement.type === 'released')
    return settlement.notBefore === undefined ? undefined : `${run.id}  ${formatRest(settlement.notBefore)}`;
  if (settlement.type === 'completed') return formatRunOutcome({ id: run.id, outcome: settlement.outcome });
  return formatRunQuestions({ id: run.id, pendingApprovals: settlement.pendingApprovals });
}

/** Returns the exit code of a run that has ended, or waits. */
export const exitCodeOfRun = ({ status, outcome }: FleetRun): number =>
  status === 'ended' && outcome
    ? exitCodeForRun(outcome.reason, outcome.error?.code)
    : exitCodeForRun('waiting', undefined);
