// The table of commands: a name, a line for the help, and a lazy import, so that starting one command loads no other.

/** A command as its module exports it; the number is the exit code. */
export interface Command {
  run(args: readonly string[]): Promise<number>;
}

/** The commands by name; `load` is the only way to their code. */
export type CommandTable = Readonly<Record<string, { summary: string; load: () => Promise<Command> }>>;

/** The commands this program has. */
export const commands: CommandTable = {
  run: { summary: 'ask a model once and print its answer', load: () => import('./run.ts') },
  models: { summary: 'list models and what they can do', load: () => import('./models.ts') },
};
