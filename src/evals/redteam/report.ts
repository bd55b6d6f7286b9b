// The report of the red team: attack success and work kept for each defence, with exact 95 % intervals, by kind, and which attacks got through.
import { binomialInterval, formatPercent } from '../../checks/index.ts';
import { escapeInvisibleLine, formatColumns } from '../../core/index.ts';
import type { Defence, RedTeamRun } from './types.ts';

/** A count of runs, with the exact 95 % interval of its share. */
export type RedTeamShare = {
  readonly count: number;
  readonly total: number;
  readonly interval: readonly [low: number, high: number];
};

/** The figures of one defence. */
export type RedTeamFigures = {
  readonly defence: Defence;
  /** The attacks whose harm was in the world. */
  readonly succeeded: RedTeamShare;
  /** The attacked runs in which the task of the user was done. */
  readonly keptUnderAttack: RedTeamShare;
  /** The benign twins in which the task was done. */
  readonly keptBenign: RedTeamShare;
  /** The questions in benign twins. */
  readonly questions: number;
  readonly byKind: Readonly<Record<string, RedTeamShare>>;
  /** The attacks that succeeded. */
  readonly gotThrough: readonly string[];
  /** The tasks of benign twins that were not done. */
  readonly broken: readonly string[];
};

/** The report of a red team. */
export type RedTeamReport = {
  readonly model: string;
  readonly defences: readonly RedTeamFigures[];
  /** The runs that measured nothing, and why. */
  readonly failed: readonly { readonly attack: string; readonly defence: Defence; readonly error: string }[];
};

/** Creates the report of runs. Runs that failed are in no figure. */
export function createRedTeamReport(model: string, runs: readonly RedTeamRun[]): RedTeamReport {
  const measured = runs.filter(({ error }) => error === undefined);
  const defences = [...new Set(runs.map(({ defence }) => defence))];
  return {
    model,
    defences: defences.map((defence) =>
      createFigures(
        defence,
        measured.filter((run) => run.defence === defence),
      ),
    ),
    failed: runs.flatMap(({ attack, defence, error }) => (error === undefined ? [] : [{ attack, defence, error }])),
  };
}

function createFigures(defence: Defence, runs: readonly RedTeamRun[]): RedTeamFigures {
  const attacked = runs.filter(({ isAttacked }) => isAttacked);
  const benign = runs.filter(({ isAttacked }) => !isAttacked);
  const kinds = [...new Set(attacked.map(({ kind }) => kind))];
  return {
    defence,
    succeeded: share(attacked, ({ harmed }) => harmed),
    keptUnderAttack: share(attacked, ({ kept }) => kept),
    keptBenign: share(benign, ({ kept }) => kept),
    questions: benign.reduce((sum, { questions }) => sum + questions, 0),
    byKind: Object.fromEntries(
      kinds.map((kind) => [
        kind,
        share(
          attacked.filter((run) => run.kind === kind),
          ({ harmed }) => harmed,
        ),
      ]),
    ),
    gotThrough: attacked.filter(({ harmed }) => harmed).map(({ attack }) => attack),
    broken: benign.filter(({ kept }) => !kept).map(({ scenario }) => scenario),
  };
}

function share(runs: readonly RedTeamRun[], is: (run: RedTeamRun) => boolean): RedTeamShare {
  const count = runs.filter(is).length;
  return { count, total: runs.length, interval: runs.length === 0 ? [0, 1] : binomialInterval(count, runs.length) };
}

const maxListed = 20;
const names: Readonly<Record<Defence, string>> = { off: 'undefended', ask: 'ask', deny: 'deny' };

/** Formats a report as text, the defences side by side. */
export function formatRedTeamReport({ model, defences, failed }: RedTeamReport): string {
  const row = (title: string, of: (figures: RedTeamFigures) => string): readonly string[] => [
    title,
    ...defences.map(of),
  ];
  const kinds = Object.keys(defences[0]?.byKind ?? {});
  const rows = [
    row(`model ${model}`, ({ defence }) => names[defence]),
    row('attacks that succeeded', ({ succeeded }) => formatShare(succeeded)),
    row('work kept under attack', ({ keptUnderAttack }) => formatShare(keptUnderAttack)),
    row('benign work kept', ({ keptBenign }) => formatShare(keptBenign)),
    row('questions in benign work', ({ questions }) => String(questions)),
    ...kinds.map((kind) =>
      row(`  ${kind}`, ({ byKind }) => `${byKind[kind]?.count ?? 0} of ${byKind[kind]?.total ?? 0}`),
    ),
  ];
  const through = defences
    .filter(({ defence }) => defence !== 'off')
    .map(({ defence, gotThrough }) => formatList(`Got through with ${names[defence]}`, gotThrough));
  const broken = defences.map(({ defence, broken: tasks }) => formatList(`Not done with ${names[defence]}`, tasks));
  const errors = formatList(
    'Not measured',
    failed.map(({ attack, error }) => `${attack}: ${error}`),
  );
  return `${formatColumns(rows.map((cells) => cells.map(escapeInvisibleLine)))}${through.join('')}${broken.join('')}${errors}`;
}

/** Formats a share with its 95 % interval. */
export const formatShare = ({ count, total, interval: [low, high] }: RedTeamShare): string =>
  total === 0 ? 'none' : `${count} of ${total} (${formatPercent(low)} to ${formatPercent(high)})`;

function formatList(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const more = items.length > maxListed ? [`and ${items.length - maxListed} more`] : [];
  return `${title}: ${[...items.slice(0, maxListed).map(escapeInvisibleLine), ...more].join(', ')}\n`;
}
