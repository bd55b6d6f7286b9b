// The terminal's public names.
export type { Command, CommandTable } from './args/command.ts';
export { commands } from './command-table.ts';
export { main } from './main.ts';
