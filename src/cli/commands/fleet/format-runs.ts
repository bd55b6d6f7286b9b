// Runs of the queue in words: a line each for lists, and what a person has to know of one.
import { escapeInvisible, escapeInvisibleLine, type FleetRun, type RunSettlement } from '../../../core/index.ts';
import { exitCodeForRun } from '../../args/exit-codes.ts';

const maxPromptChars = 70;

const truncatePrompt = (text: string): string => {
  const line = escapeInvisibleLine(text.trim().split('\n')[0] ?? '');
  return line.length > maxPromptChars ? `${line.slice(0, maxPromptChars)}...` : line;
};

/** A run as a line of a list. */
export const formatRunLine = (run: FleetRun): string =>
  `${run.id}  ${run.status}${run.outcome ? ` ${run.outcome.reason}` : ''}  ${truncatePrompt(run.prompt)}`;

/** How a run came out, as a line. */
export function formatRunOutcome({ id, outcome }: Pick<FleetRun, 'id' | 'outcome'>): string {
  if (!outcome) return `${id}  ended`;
  const { reason, text, detail } = outcome;
  const said = reason === 'answered' || reason === 'task-complete' ? text : (detail ?? text);
  return `${id}  ${reason}  ${truncatePrompt(said)}`;
}

/** What a run waits for, and how it is answered. */
export const formatRunQuestions = ({
  id,
  pendingApprovals: questions,
}: Pick<FleetRun, 'id' | 'pendingApprovals'>): string =>
  questions
    .map(({ call, question, kind }) => {
      const which = questions.length > 1 ? ` --call ${call}` : '';
      const answers =
        kind === 'unknown-outcome' ? 'happened (or yes: run it again; or no: nobody knows)' : 'yes (or no)';
      return `${id}  asks: ${escapeInvisible(question)}\n  To answer: fairlead runs answer ${id}${which} ${answers}`;
    })
    .join('\n');

/** Everything about a run that a person may want to know. */
export function formatRunDetails(run: FleetRun): string {
  const { outcome } = run;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['run', run.id],
    ['prompt', run.prompt],
    ['status', run.status],
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

/** What a settlement is as a line; nothing where the run only goes back. */
export function formatSettlement(run: FleetRun, settlement: RunSettlement): string | undefined {
  if (settlement.type === 'released') return undefined;
  if (settlement.type === 'completed') return formatRunOutcome({ id: run.id, outcome: settlement.outcome });
  return formatRunQuestions({ id: run.id, pendingApprovals: settlement.pendingApprovals });
}

/** The exit code of a run that has ended, or rests. */
export const exitCodeOfRun = ({ status, outcome }: FleetRun): number =>
  status === 'ended' && outcome
    ? exitCodeForRun(outcome.reason, outcome.error?.code)
    : exitCodeForRun('waiting', undefined);
