// Finds what a compaction would lose of what the user wrote.
import { truncateMiddle, type Message, type MessagePart } from '../../core/index.ts';
import { omittedFileText, userParts } from './select-kept-messages.ts';

/** Returns what is missing after a compaction, in one sentence; undefined if nothing is. */
export function findLostContent(before: readonly Message[], after: readonly Message[]): string | undefined {
  const [task, request] = [before[0], after[0]].map((message) =>
    message ? userParts(message).map(serializePart) : [],
  );
  if (!task?.every((part) => request?.includes(part))) return 'It would lose the first request of the user.';
  const kept = after.flatMap(userParts);
  const keptParts = new Set(kept.map(serializePart));
  const keptPrefixes = new Set(kept.map(partPrefix));
  const lost = before
    .slice(1)
    .flatMap(userParts)
    .find((part) => !keptParts.has(serializePart(part)) && !keptPrefixes.has(partPrefix(part)));
  return lost && `It would lose what the user wrote: ${truncateMiddle(JSON.stringify(partPrefix(lost)), 60)}.`;
}

const serializePart = (part: MessagePart): string => JSON.stringify(part);

/** The start of a part: truncated text still starts the same, and an omitted file is named. */
const partPrefix = (part: MessagePart): string =>
  part.type === 'file'
    ? omittedFileText(part).text.slice(0, 24)
    : part.type === 'text'
      ? part.text.slice(0, 24)
      : serializePart(part);
