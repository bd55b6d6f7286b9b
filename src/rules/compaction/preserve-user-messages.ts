// What no compaction may lose, looked for in what it made and not in how it was made.
import { truncateMiddle, toArray, type Compactor, type Message, type MessagePart } from '../../core/index.ts';
import { omittedFileText, userParts } from './plan.ts';

/** What must be there and is not, in one sentence; nothing if all of it is. */
export function findLostContent(before: readonly Message[], after: readonly Message[]): string | undefined {
  const [task, request] = [before[0], after[0]].map((message) =>
    message ? userParts(message).map(serializePart) : [],
  );
  if (!task?.every((part) => request?.includes(part))) return 'It would lose the first request of the user.';
  const kept = after.flatMap(userParts);
  const whole = new Set(kept.map(serializePart));
  const begun = new Set(kept.map(partPrefix));
  const lost = before
    .slice(1)
    .flatMap(userParts)
    .find((part) => !whole.has(serializePart(part)) && !begun.has(partPrefix(part)));
  return lost && `It would lose what the user said: ${truncateMiddle(JSON.stringify(partPrefix(lost)), 60)}.`;
}

const serializePart = (part: MessagePart): string => JSON.stringify(part);

/** Words that were cut still begin as they did; a file that was left out is named. */
const partPrefix = (part: MessagePart): string =>
  part.type === 'file'
    ? omittedFileText(part).text.slice(0, 24)
    : part.type === 'text'
      ? part.text.slice(0, 24)
      : serializePart(part);

/** The same compactor, refused where it would lose what the user said. */
export const preserveUserMessages = (compactor: Compactor): Compactor => ({
  ...(compactor.threshold === undefined ? {} : { threshold: compactor.threshold }),
  async run(state, context) {
    const { messages, ...made } = await compactor.run(state, context);
    const loss = messages && findLostContent(toArray(state.messages), messages);
    if (loss !== undefined) return { ...made, detail: loss };
    return messages ? { ...made, messages } : made;
  },
});
