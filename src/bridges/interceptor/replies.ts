// Lists the replies of a conversation, also those of histories that the caller replaced, so that a message that repeats one is recognized.
import { messageText, type Fact, type Log } from '../../core/index.ts';

const repliesKey = 'guide/replies';
/** Older replies are forgotten. */
const maxChars = 400_000;

/** Returns the texts of all replies. */
export async function listReplies(log: Log): Promise<readonly string[]> {
  const texts = new Set<string>();
  for await (const events of log.read())
    for (const event of events) {
      if (event.type === 'turn-ended') texts.add(messageText(event.message));
      if (event.type === 'annotation-added' && event.key === repliesKey && Array.isArray(event.value))
        for (const text of event.value) texts.add(String(text));
    }
  let chars = 0;
  return [...texts]
    .filter((text) => text.trim() !== '')
    .toReversed()
    .filter((text) => (chars += text.length) <= maxChars);
}

/** Returns the fact that keeps the replies of a history that is replaced. */
export const repliesFact = async (log: Log): Promise<Fact> => ({
  type: 'annotation-added',
  key: repliesKey,
  value: await listReplies(log),
});
