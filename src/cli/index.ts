// The terminal's public names.
export { commands, type Command, type CommandTable } from './commands.ts';
export { main } from './main.ts';
