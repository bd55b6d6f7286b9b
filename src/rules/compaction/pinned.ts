// What no compaction may lose, looked for in what it made and not in how it was made.
import { truncateMiddle, toArray, type Compactor, type Message, type MessagePart } from '../../core/index.ts';
import { fileLeftOut, ownWords } from './plan.ts';

/** What must be there and is not, in one sentence; nothing if all of it is. */
export function lossIn(before: readonly Message[], after: readonly Message[]): string | undefined {
  const [task, request] = [before[0], after[0]].map((message) => (message ? ownWords(message).map(exactly) : []));
  if (!task?.every((part) => request?.includes(part))) return 'It would lose the first request of the user.';
  const kept = after.flatMap(ownWords);
  const whole = new Set(kept.map(exactly));
  const begun = new Set(kept.map(beginning));
  const lost = before
    .slice(1)
    .flatMap(ownWords)
    .find((part) => !whole.has(exactly(part)) && !begun.has(beginning(part)));
  return lost && `It would lose what the user said: ${truncateMiddle(JSON.stringify(beginning(lost)), 60)}.`;
}

const exactly = (part: MessagePart): string => JSON.stringify(part);

/** Words that were cut still begin as they did; a file that was left out is named. */
const beginning = (part: MessagePart): string =>
  part.type === 'file'
    ? fileLeftOut(part).text.slice(0, 24)
    : part.type === 'text'
      ? part.text.slice(0, 24)
      : exactly(part);

/** The same compactor, refused where it would lose what the user said. */
export const keeping = (compactor: Compactor): Compactor => ({
  ...(compactor.threshold === undefined ? {} : { threshold: compactor.threshold }),
  async run(state, context) {
    const { messages, ...made } = await compactor.run(state, context);
    const loss = messages && lossIn(toArray(state.messages), messages);
    if (loss !== undefined) return { ...made, detail: loss };
    return messages ? { ...made, messages } : made;
  },
});
