// Public names of the command line.
export type { Command, CommandTable } from './args/command.ts';
export { commands } from './command-table.ts';
export { main } from './main.ts';
