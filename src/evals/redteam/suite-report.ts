// The report of a suite: utility, security and utility under attack for each defence, by user task and by injection task.
import { binomialInterval } from '../../checks/index.ts';
import { escapeInvisibleLine, formatColumns } from '../../core/index.ts';
import { formatShare, type RedTeamShare } from './report.ts';
import type { Suite } from './suite.ts';
import type { Defence, RedTeamRun } from './types.ts';

/** The three figures of a suite. */
export type SuiteFigures = {
  /** User tasks that were done without an attack. */
  readonly utility: RedTeamShare;
  /** Attacked runs in which no harm was done. */
  readonly security: RedTeamShare;
  /** Attacked runs in which the user task was done. */
  readonly utilityUnderAttack: RedTeamShare;
};

/** The figures of one defence. */
export type SuiteDefence = SuiteFigures & {
  readonly defence: Defence;
  readonly userTasks: Readonly<Record<string, SuiteFigures>>;
  /** Injection tasks have no utility of their own. */
  readonly injectionTasks: Readonly<Record<string, Omit<SuiteFigures, 'utility'>>>;
};

/** The report of a suite. */
export type SuiteReport = {
  readonly suite: string;
  readonly model: string;
  readonly defences: readonly SuiteDefence[];
  /** The runs that measured nothing, and why. */
  readonly failed: readonly { readonly attack: string; readonly defence: Defence; readonly error: string }[];
};

/** Creates the report of the runs of a suite. Runs that failed are in no figure. */
export function createSuiteReport(suite: Suite, model: string, runs: readonly RedTeamRun[]): SuiteReport {
  const injectionOf = new Map(suite.attacks.map(({ attack, injectionTask }) => [attack.id, injectionTask]));
  const userTasks = [...new Set(suite.attacks.map(({ userTask }) => userTask))];
  const injections = [...new Set(suite.attacks.map(({ injectionTask }) => injectionTask))];
  const measured = runs.filter(({ error }) => error === undefined);
  return {
    suite: suite.name,
    model,
    defences: [...new Set(runs.map(({ defence }) => defence))].map((defence) => {
      const own = measured.filter((run) => run.defence === defence);
      const byUser = userTasks.map((id) => [id, createFigures(own.filter(({ scenario }) => scenario === id))] as const);
      const byInjection = injections.map((id) => {
        const attacked = own.filter(({ attack, isAttacked }) => isAttacked && injectionOf.get(attack) === id);
        const { security, utilityUnderAttack } = createFigures(attacked);
        return [id, { security, utilityUnderAttack }] as const;
      });
      return {
        defence,
        ...createFigures(own),
        userTasks: Object.fromEntries(byUser),
        injectionTasks: Object.fromEntries(byInjection),
      };
    }),
    failed: runs.flatMap(({ attack, defence, error }) => (error === undefined ? [] : [{ attack, defence, error }])),
  };
}

function createFigures(runs: readonly RedTeamRun[]): SuiteFigures {
  const attacked = runs.filter(({ isAttacked }) => isAttacked);
  const benign = runs.filter(({ isAttacked }) => !isAttacked);
  return {
    utility: share(benign, ({ kept }) => kept),
    security: share(attacked, ({ harmed }) => !harmed),
    utilityUnderAttack: share(attacked, ({ kept }) => kept),
  };
}

function share(runs: readonly RedTeamRun[], is: (run: RedTeamRun) => boolean): RedTeamShare {
  const count = runs.filter(is).length;
  return { count, total: runs.length, interval: runs.length === 0 ? [0, 1] : binomialInterval(count, runs.length) };
}

const names: Readonly<Record<Defence, string>> = { off: 'undefended', ask: 'ask', deny: 'deny' };
const formatCount = ({ count, total }: RedTeamShare): string => (total === 0 ? '-' : `${count} of ${total}`);

/** Formats a report as text: the totals with 95 % intervals, then each task. */
export function formatSuiteReport({ suite, model, defences, failed }: SuiteReport): string {
  const totals = [
    [`${suite} with ${model}`, 'utility', 'security', 'utility under attack'],
    ...defences.map(({ defence, utility, security, utilityUnderAttack }) => [
      names[defence],
      ...[utility, security, utilityUnderAttack].map(formatShare),
    ]),
  ];
  const tasks = defences.flatMap(({ defence, userTasks, injectionTasks }) => [
    [`${names[defence]}, by user task`, 'utility', 'security', 'utility under attack'],
    ...Object.entries(userTasks).map(([id, { utility, security, utilityUnderAttack }]) => [
      `  ${id}`,
      ...[utility, security, utilityUnderAttack].map(formatCount),
    ]),
    [`${names[defence]}, by injection task`, '', '', ''],
    ...Object.entries(injectionTasks).map(([id, { security, utilityUnderAttack }]) => [
      `  ${id}`,
      '-',
      ...[security, utilityUnderAttack].map(formatCount),
    ]),
  ]);
  const lost = failed.map(({ attack, defence, error }) => `Not measured: ${attack} (${names[defence]}): ${error}`);
  const clean = (rows: readonly (readonly string[])[]): string =>
    formatColumns(rows.map((cells) => cells.map(escapeInvisibleLine)));
  return `${clean(totals)}\n${clean(tasks)}${lost.map((line) => `${escapeInvisibleLine(line)}\n`).join('')}`;
}
