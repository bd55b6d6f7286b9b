// The vault of a session: replaces values by tokens that a model may see, and restores them where the text stays on this machine.
import { hash } from 'node:crypto';
import type { DlpFinding } from './types.ts';

/** Replaces values by tokens and restores them. The mapping stays in the process. */
export type DlpVault = {
  /** Returns the token of a value; the same value has the same token. */
  readonly tokenize: (value: string, finding: Pick<DlpFinding, 'kind'>) => string;
  /** Returns the text with each token of this vault replaced by its value; `format` changes the value for its place. */
  restore(text: string, format?: (value: string) => string): string;
  /** Returns the length up to which a text that is not complete can be restored without dividing a token. */
  cutBefore(text: string): number;
  readonly size: number;
};

const maxTokenChars = 48;

/** Creates a vault. The same seed, such as the id of a session, and the same order of values give the same tokens, so that a prompt cache stays valid. */
export function createDlpVault(seed: string): DlpVault {
  const mark = hash('sha256', `fairlead dlp ${seed}`).slice(0, 8);
  const tokens = new Map<string, string>();
  const values = new Map<string, string>();
  const tokenPattern = new RegExp(`PRIVATE_[A-Z0-9]{1,24}_\\d{1,6}_${mark}`, 'g');
  return {
    get size() {
      return values.size;
    },
    tokenize(value, { kind }) {
      const known = tokens.get(value);
      if (known !== undefined) return known;
      const name =
        kind
          .toUpperCase()
          .replaceAll(/[^A-Z0-9]/g, '')
          .slice(0, 24) || 'VALUE';
      const token = `PRIVATE_${name}_${tokens.size + 1}_${mark}`;
      tokens.set(value, token);
      values.set(token, value);
      return token;
    },
    restore: (text, format = (value) => value) =>
      values.size === 0
        ? text
        : text.replaceAll(tokenPattern, (token) => {
            const value = values.get(token);
            return value === undefined ? token : format(value);
          }),
    cutBefore(text) {
      if (values.size === 0) return text.length;
      // A token is one word: only the last word of the text may be incomplete.
      const [tail = ''] = /[A-Z0-9a-f_]{0,48}$/.exec(text.slice(-maxTokenChars)) ?? [];
      const at = tail.search(/P(?:R(?:I(?:V(?:A(?:T(?:E(?:_|$)|$)|$)|$)|$)|$)|$)/);
      return at < 0 ? text.length : text.length - tail.length + at;
    },
  };
}
