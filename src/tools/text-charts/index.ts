// The names of the text charts that other modules import: texts in columns of a terminal.
export { displayWidth, padToWidth, wrapToWidth } from './display-width.ts';
