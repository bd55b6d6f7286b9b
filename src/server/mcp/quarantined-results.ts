// The quarantined results of calls of MCP clients. Each call is a session of its own, so the server keeps what `read_quarantined` reads in a later call.
import { isObject, type Event, type Json } from '../../core/index.ts';
import type { QuarantinedText } from '../../guards/index.ts';

/** The tool that reads quarantined text. */
export const readQuarantinedName = 'read_quarantined';

/** The oldest texts are dropped when there are more characters. */
const maxChars = 4_000_000;

/** The quarantined results of a server. */
export type QuarantinedResults = {
  /** Keeps the text of a result, and returns the text for the client. A handle cannot be guessed, because clients share the server. */
  keep(event: Event & { readonly type: 'tool-ended' }): string;
  /** The text of a handle, as a session records inherited ones; none if there is no such text. */
  find(handle: Json | undefined): readonly QuarantinedText[];
};

/** Creates the store. `canRead`: whether clients have `read_quarantined`. */
export function createQuarantinedResults(canRead: boolean): QuarantinedResults {
  const texts = new Map<string, QuarantinedText>();
  let chars = 0;
  return {
    keep({ text, withheld, data }) {
      // The text of `read_quarantined` is the values; the client has the handle of what it read.
      if (withheld === undefined || !isObject(data) || data['tool'] === readQuarantinedName) return text;
      const tool = String(data['tool']);
      if (!canRead)
        return `The result of ${tool} is in quarantine (${withheld.length} characters), and this server has no model that reads it. The setting quarantine.model names one; then clients read it with read_quarantined.`;
      const handle = `q-${crypto.randomUUID()}`;
      texts.set(handle, { handle, tool, text: withheld });
      chars += withheld.length;
      for (const [oldest, each] of texts) {
        if (chars <= maxChars || oldest === handle) break;
        texts.delete(oldest);
        chars -= each.text.length;
      }
      return text.replaceAll(String(data['quarantine']), handle);
    },
    find: (handle) => {
      const found = typeof handle === 'string' ? texts.get(handle) : undefined;
      return found ? [found] : [];
    },
  };
}
