// The terminal as a conversation knows it: what a face is, and the one that fits where the program runs.
export type { Block, CallStanding, Choice, Completer, Face, Heard, Question, Status, Suggestions } from './face.ts';
export { openFace, type FaceOptions } from './open.ts';
