// The flags and words of shell completions, and where their values come from.

/** A word, and its description. */
export type CompletionWord = { readonly word: string; readonly description: string };

/** Where values come from: a list, the program, the file system, or only the user. */
export type CompletionSource = readonly CompletionWord[] | 'models' | 'sessions' | 'trash' | 'files' | 'anything';

/** An option with all its spellings, including the dashes. */
export type CompletionFlag = {
  readonly spellings: readonly string[];
  readonly description: string;
  readonly value?: CompletionSource;
};

/** Returns words without a description. */
export const toWords = (words: readonly string[]): readonly CompletionWord[] =>
  words.map((word) => ({ word, description: '' }));

/** Creates a flag; one without a value is a switch. */
export const createFlag = (name: string, description: string, value?: CompletionSource): CompletionFlag => ({
  spellings: [`--${name}`],
  description,
  ...(value === undefined ? {} : { value }),
});

/** The flag of commands that can print JSON. */
export const jsonFlag: CompletionFlag = createFlag('json', 'print JSON');
