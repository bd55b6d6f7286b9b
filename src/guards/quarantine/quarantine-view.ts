// The quarantined texts of a session as a projection of its log: what a handle stands for, also after compaction, a restart and a fork. Every run loads it.
import { isObject, type Json, type NamedView } from '../../core/index.ts';

/** A text that is kept out of the conversation. */
export type QuarantinedText = { readonly handle: string; readonly tool: string; readonly text: string };

/** The maximum number of characters that a baseline stores; older texts are dropped there. */
const maxStoredChars = 1_000_000;
const name = 'quarantine';

const restore = (stored: Json): readonly QuarantinedText[] | undefined =>
  Array.isArray(stored) ? (stored as unknown as readonly QuarantinedText[]).filter(isQuarantinedText) : undefined;

const isQuarantinedText = ({ handle, text }: Partial<QuarantinedText>): boolean =>
  typeof handle === 'string' && typeof text === 'string';

/** The texts, the oldest first. */
export const quarantineView: NamedView<readonly QuarantinedText[]> = {
  name,
  isInherited: true,
  initial: [],
  on(texts, event) {
    if (event.type === 'annotation-added' && event.key === name) return [...texts, ...(restore(event.value) ?? [])];
    if (event.type !== 'tool-ended' || event.withheld === undefined || !isObject(event.data)) return texts;
    const { quarantine, tool } = event.data;
    return [...texts, { handle: String(quarantine), tool: String(tool), text: event.withheld }];
  },
  serialize(texts) {
    let chars = 0;
    return texts.slice(1 + texts.findLastIndex(({ text }) => (chars += text.length) > maxStoredChars));
  },
  restore,
};
