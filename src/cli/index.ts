// The terminal's public names.
export { commands, type Command, type CommandTable } from './command-table.ts';
export { main } from './main.ts';
