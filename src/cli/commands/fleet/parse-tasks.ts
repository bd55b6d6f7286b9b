// Reads tasks from arguments, a file or standard input, and converts them to runs for the queue.
import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { FairleadError, isObject, type Json, type JsonObject, type NewRun } from '../../../core/index.ts';
import type { RunDifference } from '../../../fleet/index.ts';

/** Options for all tasks of a command line. */
export type TaskOptions = {
  readonly id?: string;
  readonly tenant?: string;
  readonly priority?: number;
  readonly session?: string;
  readonly notBefore?: string;
  readonly settings: JsonObject;
};

/** Returns the settings of runs that are queued from here: this directory, and the options. */
export const createRunSettings = ({
  model,
  auto,
  verify,
  worktree,
}: {
  readonly model?: string | undefined;
  readonly auto?: boolean | undefined;
  readonly verify?: boolean | undefined;
  readonly worktree?: boolean | undefined;
}): JsonObject => ({
  folder: process.cwd(),
  ...(model === undefined ? {} : { model }),
  ...(auto ? { auto } : {}),
  ...(verify ? { verify } : {}),
  ...(worktree ? { isolation: 'worktree' } : {}),
});

/** Converts tasks to runs. Several tasks get numbered ids, so that the same tasks with the same id are the same runs. */
export function tasksToRuns(
  tasks: readonly Task[],
  options: TaskOptions,
  numbered: boolean = tasks.length > 1,
): readonly NewRun[] {
  const { id, settings, ...shared } = options;
  return tasks.map(({ settings: own, ...task }, i) => ({
    ...shared,
    ...(id === undefined ? {} : { id: numbered ? `${id}-${i + 1}` : id }),
    ...task,
    settings: { ...settings, ...own },
  }));
}

/** One task: its prompt, and the other fields of its line. */
export type Task = NewRun;

/** Parses one task per line: a prompt, or JSON if the line starts with a brace. */
function parseTasks(text: string, source: string): readonly Task[] {
  return text.split('\n').flatMap((line, i) => {
    const trimmed = line.trim();
    if (trimmed === '') return [];
    return [trimmed.startsWith('{') ? parseTask(trimmed, `${source}, line ${i + 1}`) : { prompt: trimmed }];
  });
}

/** Reads the tasks of the arguments and of a file; without both, of standard input. */
export async function readTasks(prompts: readonly string[], file: string | undefined): Promise<readonly Task[]> {
  const tasks = [...prompts.map((prompt) => ({ prompt })), ...(file === undefined ? [] : readTaskFile(file))];
  if (prompts.length === 0 && file === undefined && !process.stdin.isTTY)
    for (const item of parseTasks(await readAll(process.stdin), 'standard input')) tasks.push(item);
  if (tasks.length > 0) return tasks;
  throw new TypeError('No task was given: pass one as an argument, in a file or on standard input.');
}

function readTaskFile(file: string): readonly Task[] {
  try {
    return parseTasks(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof FairleadError) throw error;
    throw new FairleadError('cli/no-tasks', `The tasks in ${file} could not be read.`, { blame: 'user', cause: error });
  }
}

const textFields = ['id', 'prompt', 'kind', 'session', 'tenant', 'notBefore', 'parent'] as const;

function parseTask(line: string, source: string): Task {
  const parsed = parseJson(line);
  const { priority, settings, words, ...other } = isObject(parsed) ? parsed : {};
  // `words` is the former name of `prompt`.
  const rest = words === undefined ? other : { prompt: words, ...other };
  const invalid = Object.entries(rest).find(
    ([key, value]) => !(textFields as readonly string[]).includes(key) || typeof value !== 'string',
  );
  const isValid =
    typeof rest['prompt'] === 'string' &&
    invalid === undefined &&
    (priority === undefined || Number.isInteger(priority)) &&
    (settings === undefined || isObject(settings));
  if (!isValid)
    throw new FairleadError('cli/bad-task', `${source} is not a task${invalid ? `: ${invalid[0]}` : '.'}`, {
      blame: 'user',
      hint: 'A line is a prompt, or JSON such as {"prompt": "...", "id": "...", "settings": {"folder": "..."}}.',
    });
  return {
    ...rest,
    ...(priority === undefined ? {} : { priority }),
    ...(settings === undefined ? {} : { settings }),
  } as Task;
}

function parseJson(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
}

/** The error for an id that is already used by a different run. */
export const runIdConflictError = (id: string, [name, value]: RunDifference): FairleadError =>
  new FairleadError(
    'cli/other-task',
    `${id} is already another run: its ${name} ${name.endsWith('s') ? 'are' : 'is'} ${value}.`,
    { blame: 'user', hint: 'Use the same prompt and settings, or another --id.' },
  );
