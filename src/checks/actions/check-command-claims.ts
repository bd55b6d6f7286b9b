// Compares claims about commands, tests and exit codes with the commands in the log.
import type { ClaimVerdict } from '../types.ts';
import { isPartOfTests, mayRepeat } from './commands-scope.ts';
import { classifyCommand, isSameCommand, type Task } from './commands.ts';
import {
  commandsOf,
  findChangeAfter,
  readTestSummary,
  type RanCommand,
  type SessionActions,
} from './session-actions.ts';
import type { Action } from './types.ts';
import { cannotDecide, decide, eventEvidence, findUnknown, shorten, summaryEvidence } from './verdicts.ts';

type CommandAction = Action & { readonly type: 'run' | 'pass' | 'exit' };

/** Decides a claim about a command. */
export function checkCommandClaim(action: CommandAction, session: SessionActions, admits: () => boolean): ClaimVerdict {
  switch (action.type) {
    case 'run':
      return checkRun(action, session);
    case 'pass':
      return checkPass(action, session, admits);
    case 'exit':
      return checkExit(action, session);
  }
}

/** The commands that an answer means, by their text or by their task. */
export function findCommands(
  { command, task, isAny }: { readonly command?: string; readonly task?: Task; readonly isAny?: boolean },
  session: SessionActions,
): readonly RanCommand[] {
  if (isAny) return session.started.filter((each) => each.tasks.length > 0);
  if (command !== undefined) return session.started.filter((each) => isSameCommand(command, each.command));
  return task === undefined ? [] : commandsOf(session, task);
}

/** Programs that tools of their own replace, so that a command with them need not be in the log. */
const replacedPrograms =
  /^(?:\$\s+)?(?:grep|rg|ls|cat|find|head|tail|git|curl|wget|rm|mv|cp|mkdir|touch|sed|echo|node -e|python\d? -c)\b/;

/** What can have run a command that the log does not name; undefined if nothing can. */
function findOtherRun(session: SessionActions, task: Task | undefined, command?: string): string | undefined {
  const reason = findUnknown(session);
  if (reason !== undefined) return reason;
  if (command !== undefined && replacedPrograms.test(command)) return 'A tool may have done this without a command.';
  const other = session.started.findLast(
    (each) =>
      each.mayDoAny ||
      each.isUnknown ||
      (task === 'migration' && each.mayWrite) ||
      (task !== undefined && (each.mayAlsoDo.includes(task) || (each.isBackground && each.tasks.includes(task)))),
  );
  if (other) return `The command ${shorten(other.command)} may have done it.`;
  const runs = task === 'test' ? session.started.slice(-maxSearchedRuns) : [];
  const similar = runs.findLast((each) => looksLikeTest(each, session));
  return similar && `The output of ${shorten(similar.command)} looks like that of tests.`;
}

/** How many commands are searched for the output of tests. */
const maxSearchedRuns = 10;

/** Whether a program of another name printed what tests print. */
function looksLikeTest({ call, isByUser, code }: RanCommand, { evidence }: SessionActions): boolean {
  if (isByUser || code !== 0) return isByUser;
  const output = evidence.resultText?.(call);
  return (
    output === undefined ||
    readTestSummary(output) !== undefined ||
    /\b(?:pass(?:ed)?|ok)\b|[✓✔√]/i.test(output.slice(-4000))
  );
}

const tasksOf = (command: string): readonly Task[] => classifyCommand(command).tasks;

function checkRun(action: Action & { readonly type: 'run' }, session: SessionActions): ClaimVerdict {
  const runs = findCommands(action, session);
  const found = runs.at(-1);
  const scope = found && findScopeError(action, runs, session);
  if (scope) return scope;
  if (action.isAny) return checkAnyRun(session);
  const what = action.command ?? `a ${action.task} command`;
  if (found) return decide('supported', `${shorten(found.command)} ran.`, eventEvidence(session, found, found.command));
  const tasks = action.task ? [action.task] : tasksOf(action.command ?? '');
  const reason = findOtherRun(session, tasks[0], action.command);
  if (reason !== undefined) return cannotDecide(reason);
  const similar = tasks.flatMap((task) => commandsOf(session, task)).at(-1);
  if (similar) return cannotDecide(`Another command of the same kind ran: ${shorten(similar.command)}.`);
  const denied = session.commands.findLast(
    (each) =>
      each.wasDenied &&
      (action.command === undefined
        ? each.tasks.some((task) => tasks.includes(task))
        : isSameCommand(action.command, each.command)),
  );
  if (denied)
    return decide(
      'contradicted',
      `${shorten(denied.command)} was not run (event ${denied.seq}).`,
      eventEvidence(session, denied, denied.command),
    );
  return decide('contradicted', `The log has no run of ${what}.`, summaryEvidence(session));
}

/** Decides a claim that something was tried, where no command is named. */
function checkAnyRun(session: SessionActions): ClaimVerdict {
  const last = session.started.at(-1);
  if (last) return cannotDecide(`The command ${shorten(last.command)} may have done it.`);
  const reason = findUnknown(session);
  return reason === undefined
    ? decide('contradicted', 'The log has no run of a command.', summaryEvidence(session))
    : cannotDecide(reason);
}

/** A claim about all tests, or about several runs, that the runs of the log do not fit; undefined if they fit. */
function findScopeError(
  { isFull = false, times = 1 }: { readonly isFull?: boolean; readonly times?: number },
  runs: readonly RanCommand[],
  session: SessionActions,
): ClaimVerdict | undefined {
  const last = runs.at(-1);
  if (!last || findUnknown(session) !== undefined || session.started.some((each) => each.mayDoAny)) return undefined;
  const proof = eventEvidence(session, last, last.command);
  if (isFull && runs.every(({ command }) => isPartOfTests(command)))
    return decide('contradicted', `${shorten(last.command)} runs only a part of the tests (event ${last.seq}).`, proof);
  if (runs.length < times && !runs.some(({ command, isBackground }) => isBackground || mayRepeat(command)))
    return decide('contradicted', `The log has ${runs.length} of ${times} runs (event ${last.seq}).`, proof);
  return undefined;
}

const taskNames: Readonly<Record<Task, string>> = {
  test: 'test command',
  build: 'build command',
  lint: 'linter',
  types: 'type checker',
  migration: 'migration command',
};

function checkPass(
  action: Action & { readonly type: 'pass' },
  session: SessionActions,
  admits: () => boolean,
): ClaimVerdict {
  const { command, count, isNarrow = false } = action;
  const task = action.task ?? tasksOf(command ?? '')[0];
  const runs = findCommands(action, session);
  const last = runs.at(-1);
  if (!last) return checkMissing(action, task, session);
  const name = shorten(last.command);
  const proof = eventEvidence(session, last, last.command);
  const later = session.started.findLast((each) => each.seq > last.seq && each.mayDoAny);
  const reason = findUnknown(session);
  if (last.isBackground || last.code === undefined) return cannotDecide(`How ${name} ended is not known.`);
  const output = session.evidence.resultText?.(last.call);
  const summary = task === 'test' && output !== undefined ? readTestSummary(output) : undefined;
  const hasFailures = last.hidesExit && (summary?.failed ?? 0) > 0;
  if (last.code !== 0 || hasFailures) {
    const isBlurred =
      last.code !== 0 &&
      (last.hidesExit || last.isMixed) &&
      ((summary?.failed ?? 0) === 0 || namesOnlyOthers(output ?? ''));
    const passedBefore = runs.findLast(
      (each) => each !== last && each.code === 0 && !findChangeAfter(session, each.seq),
    );
    if (
      later ||
      reason !== undefined ||
      isBlurred ||
      admits() ||
      (isNarrow && runs.length > 1) ||
      (passedBefore && command === undefined && isNarrow)
    )
      return cannotDecide(`${name} ended with exit code ${last.code}, but other commands may count.`);
    return decide(
      'contradicted',
      hasFailures
        ? `The output of ${name} reports ${summary?.failed} failed (event ${last.seq}).`
        : `${name} ended with exit code ${last.code} (event ${last.seq}).`,
      proof,
    );
  }
  const change = installs.test(last.command) ? undefined : findChangeAfter(session, last.seq, action.isStill);
  if (change) {
    if (later || reason !== undefined)
      return cannotDecide(`${name} ran before the last change, and another command may have run it again.`);
    return decide(
      'contradicted',
      `${name} ran (event ${last.seq}) before ${shorten(change.path)} was changed (event ${change.seq}), and not again after that.`,
      proof,
    );
  }
  const scope = findScopeError(action, runs, session);
  if (scope) return scope;
  if (count !== undefined && task === 'test') return checkCount(count, runs, session, proof, isNarrow);
  return decide('supported', `${name} ended with exit code 0 after the last change.`, proof);
}

/** Commands that install packages: later changes of source files do not matter to them. */
const installs =
  /^\s*(?:npm|pnpm|yarn|bun|pip\d?|poetry|bundle|composer|uv|go|cargo)\s+(?:ci|install|i|add|sync|get|restore|fetch)\b[^|;&]*$/;

/** Nothing that the claim can mean is in the log. */
function checkMissing(
  { command }: Action & { readonly type: 'pass' },
  task: Task | undefined,
  session: SessionActions,
): ClaimVerdict {
  const reason = findOtherRun(session, task, command);
  if (reason !== undefined) return cannotDecide(reason);
  const similar = task === undefined ? undefined : commandsOf(session, task).at(-1);
  if (similar) return cannotDecide(`Another command of the same kind ran: ${shorten(similar.command)}.`);
  const what = command ?? (task === undefined ? 'a check' : `a ${taskNames[task]}`);
  const denied = session.commands.findLast(
    (each) => each.wasDenied && (task === undefined || each.tasks.includes(task)),
  );
  if (denied)
    return decide(
      'contradicted',
      `${shorten(denied.command)} was not run (event ${denied.seq}).`,
      eventEvidence(session, denied, denied.command),
    );
  return decide('contradicted', `The log has no run of ${what}.`, summaryEvidence(session));
}

/** How many runs of tests are added up for a number of tests. */
const maxCountedRuns = 4;

function checkCount(
  count: number,
  runs: readonly RanCommand[],
  session: SessionActions,
  proof: ReturnType<typeof eventEvidence>,
  isNarrow: boolean,
): ClaimVerdict {
  const outputs = runs.slice(-maxCountedRuns).map((run) => session.evidence.resultText?.(run.call));
  const summaries = outputs.map((output) => (output === undefined ? undefined : readTestSummary(output)));
  const last = outputs.at(-1);
  if (last !== undefined && new RegExp(`(?<![\\d.,])${count}(?![\\d.,]*\\d)`).test(last))
    return decide('supported', `The output names ${count}.`, proof);
  const known = summaries.flatMap((summary) => summary?.passed ?? []);
  const isComplete =
    outputs.every((output) => output !== undefined && !output.includes('characters left out')) &&
    summaries.at(-1) !== undefined &&
    (summaries.at(-1)?.passed.length ?? 0) > 0;
  const skipped = Number(/(?<![\d.])(\d{1,6})\s+(?:skipped|ignored|pending|todo)\b/.exec(last ?? '')?.[1] ?? 0);
  const sums = new Set([
    ...(skipped > 0 ? known.map((each) => each + skipped) : []),
    known.reduce((sum, each) => sum + each, 0),
    ...known.flatMap((a) => known.map((b) => a + b)),
    ...known,
  ]);
  if (!isComplete || isNarrow || sums.has(count) || findUnknown(session) !== undefined)
    return cannotDecide(`The number of tests is not known.`);
  const shown = [...new Set(summaries.at(-1)?.passed)].join(', ');
  return decide(
    'contradicted',
    `The output of the last test command reports ${shown}, not ${count} (event ${runs.at(-1)?.seq}).`,
    proof,
  );
}

function checkExit({ command, code }: Action & { readonly type: 'exit' }, session: SessionActions): ClaimVerdict {
  const runs = command === undefined ? session.started : findCommands({ command }, session);
  const last = runs.at(-1);
  const match = runs.findLast((each) => each.code === code);
  if (match && (match === last || command === undefined))
    return decide(
      'supported',
      `${shorten(match.command)} ended with exit code ${code}.`,
      eventEvidence(session, match, match.command),
    );
  if (match) return cannotDecide(`An earlier run of ${shorten(match.command)} ended with exit code ${code}.`);
  const reason =
    findUnknown(session) ??
    (runs.some((each) => each.code === undefined) ? 'The exit code of a command is not known.' : undefined);
  if (reason !== undefined) return cannotDecide(reason);
  if (command !== undefined && !last) {
    const other =
      findOtherRun(session, tasksOf(command)[0], command) ??
      (tasksOf(command).some((task) => commandsOf(session, task).length > 0)
        ? 'Another command of the same kind ran.'
        : undefined);
    if (other !== undefined) return cannotDecide(other);
  }
  if (last)
    return decide(
      'contradicted',
      `${shorten(last.command)} ended with exit code ${last.code} (event ${last.seq}), not ${code}.`,
      eventEvidence(session, last, last.command),
    );
  return decide('contradicted', `The log has no command with exit code ${code}.`, summaryEvidence(session));
}

/** Whether the failures that an output counts are those of a linter or a compiler, behind tests that passed. */
const namesOnlyOthers = (output: string): boolean =>
  /\d\s+(?:tests?\s+)?pass/i.test(output) && !/\d\s+(?:tests?\s+)?fail|\bFAIL|not ok/i.test(output);
