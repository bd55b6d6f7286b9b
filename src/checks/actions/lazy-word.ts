// A word of a sentence whose text is copied out of the sentence only if it is read.
import type { Verb } from './lexicon.ts';

/** A word of a sentence: its place, its text in lower case, and its verb if it is a form of one. */
export type Word = {
  readonly at: number;
  readonly end: number;
  readonly text: string;
  readonly verb: Verb | undefined;
};

/** A word whose text is copied out of its sentence only if it is read. */
export class LazyWord implements Word {
  readonly at: number;
  readonly end: number;
  readonly verb: Verb | undefined;
  private readonly sentence: string;
  constructor(at: number, end: number, sentence: string, verb: Verb | undefined) {
    this.at = at;
    this.end = end;
    this.sentence = sentence;
    this.verb = verb;
  }
  get text(): string {
    return this.sentence.slice(this.at, this.end);
  }
}
