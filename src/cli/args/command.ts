// The types of a command module and of the command table.

/** A command as its module exports it. `run` resolves to the exit code; `commands` is the table that the program was started with. */
export interface Command {
  run(args: readonly string[], commands: CommandTable): Promise<number>;
}

/** The commands by name, with a line for the help; `load` imports the module of one command. */
export type CommandTable = Readonly<Record<string, { summary: string; load: () => Promise<Command> }>>;
