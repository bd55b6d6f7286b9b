// A list to choose from as plain lines: by number, by name, or by words that are searched for.
import { findTypedChoice } from './format.ts';
import type { PickOptions, UiChoice } from './ui.ts';

/** How the list is shown and the answer is read. */
export type PlainPickContext = {
  readonly print: (choices: readonly UiChoice[]) => void;
  /** Reads lines until `parse` returns something else than `again`; undefined if the input ends. */
  readonly read: (prompt: string, parse: (line: string) => string | undefined) => Promise<string | undefined>;
  readonly search?: PickOptions['search'];
  readonly signal?: AbortSignal | undefined;
};

/** Shows the list until the user chose an entry or cancelled; words that name none are searched for. */
export async function pickByLine(
  choices: readonly UiChoice[],
  { print, read, search, signal = new AbortController().signal }: PlainPickContext,
): Promise<string | undefined> {
  const prompt = `number or name${search ? ', or words to search for' : ''}, empty to cancel: `;
  for (let shown = choices; ;) {
    print(shown);
    let words = '';
    const picked = await read(prompt, (line) => {
      if (line === '') return undefined;
      const choice = findTypedChoice(shown, line);
      if (choice) return choice.value;
      words = line;
      return search ? undefined : 'again';
    });
    if (picked !== undefined || words === '' || !search) return picked;
    shown = [];
    for await (const choice of search(words, signal)) shown = [...shown, choice];
  }
}
