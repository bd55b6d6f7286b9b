// The tasks that a command line, a file or standard input names, as runs for the queue.
import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { FairleadError, isObject, type Json, type JsonObject, type NewRun } from '../../../core/index.ts';

/** What holds for all tasks of a command line. */
export type TaskOptions = {
  readonly id?: string;
  readonly tenant?: string;
  readonly priority?: number;
  readonly session?: string;
  readonly notBefore?: string;
  readonly settings: JsonObject;
};

/** The settings of runs that are queued from here: this folder, and what the command line says. */
export const createRunSettings = ({
  model,
  auto,
}: {
  readonly model?: string | undefined;
  readonly auto?: boolean | undefined;
}): JsonObject => ({
  folder: process.cwd(),
  ...(model === undefined ? {} : { model }),
  ...(auto ? { auto } : {}),
});

/** Tasks as runs. The ids of several go by their places, so that the same tasks under the same id are the same runs. */
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

/** One task: its words, and whatever its line says beside them. */
export type Task = NewRun;

/** The tasks of a text: a line each, as words or, where it begins with a brace, as JSON. */
function parseTasks(text: string, where: string): readonly Task[] {
  return text.split('\n').flatMap((line, i) => {
    const trimmed = line.trim();
    if (trimmed === '') return [];
    return [trimmed.startsWith('{') ? parseTask(trimmed, `${where}, line ${i + 1}`) : { prompt: trimmed }];
  });
}

/** The tasks of the arguments and of a file, and where there are neither, of standard input. */
export async function readTasks(words: readonly string[], file: string | undefined): Promise<readonly Task[]> {
  const found = [...words.map((each) => ({ prompt: each })), ...(file === undefined ? [] : readTaskFile(file))];
  if (words.length === 0 && file === undefined && !process.stdin.isTTY)
    found.push(...parseTasks(await readAll(process.stdin), 'standard input'));
  if (found.length > 0) return found;
  throw new TypeError('There is no task: give one as an argument, in a file or on standard input.');
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

function parseTask(line: string, where: string): Task {
  const parsed = parseJson(line);
  const { priority, settings, words, ...other } = isObject(parsed) ? parsed : {};
  // `words` is the former name of `prompt`.
  const rest = words === undefined ? other : { prompt: words, ...other };
  const strange = Object.entries(rest).find(
    ([key, value]) => !(textFields as readonly string[]).includes(key) || typeof value !== 'string',
  );
  const fits =
    typeof rest['prompt'] === 'string' &&
    strange === undefined &&
    (priority === undefined || Number.isInteger(priority)) &&
    (settings === undefined || isObject(settings));
  if (!fits)
    throw new FairleadError('cli/bad-task', `${where} is no task${strange ? `: ${strange[0]}` : '.'}`, {
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
